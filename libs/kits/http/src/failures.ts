import { AppError, findWireForm } from '@svc/contract';
import type { Request } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getExchange, sendJson } from './exchange';
import type { MountOptions } from './options';

/** Writes the response of a failed request. */
export type Fail = (error: unknown, req: IncomingMessage, res: ServerResponse) => void;

/**
 * Converts every failure into a response in the common error shape. Anything but an AppError is a defect: logged with its
 * cause, and returned without. See docs/reference/http.md#errors.
 */
export function failures({ asAppError, onDefect, onRejected }: MountOptions): Fail {
  return (error, req, res) => {
    const outcome = error instanceof AppError ? error : (asAppError?.(error) ?? ofExpress(error));
    const { endpoint, requestId } = getExchange(req);
    if (!outcome) onDefect(error, { endpoint: endpoint?.id, requestId });
    if (res.headersSent) {
      // A partial response cannot be revoked; closing the connection shows the client that it is incomplete.
      res.destroy();
      return;
    }
    const failure = outcome ?? new AppError('internal_error');
    onRejected?.({ endpoint, code: failure.errorCode });
    const form = findWireForm(getPath(req));
    const { status, body } = form?.toErrorBody(failure) ?? { status: failure.toBody().status, body: failure.toBody() };
    // A page may have set cache headers before it failed.
    res.setHeader('Cache-Control', 'no-store');
    for (const [name, value] of Object.entries(failure.headers)) res.setHeader(name, value);
    sendJson(res, status, body, form?.mediaType);
  };
}

/** Unknown paths have no endpoint, but belong to a form. */
const getPath = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/** Express throws URIError-like errors with a 4xx status for paths it cannot decode. */
const ofExpress = (error: unknown): AppError | undefined => (error instanceof URIError ? badPath() : undefined);

/** For a path that cannot be decoded. */
export function badPath(): AppError {
  const message = 'the path holds a % that is not followed by two hexadecimal digits of UTF-8';
  return new AppError('invalid_body', { violations: [{ in: 'path', field: '', path: '', message }] });
}

/** Unknown paths, and known ones with another method. */
export const noRoute = (methodsOf: (path: string) => readonly string[]) => (req: Request) => {
  const methods = methodsOf(req.path);
  if (methods.length === 0) throw new AppError('not_found');
  throw new AppError('method_not_allowed', {}, { Allow: methods.join(', ') });
};
