import { AppError } from '@svc/contract';
import type { Request } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { exchangeOf, sendJson } from './exchange';
import type { MountOptions } from './options';

/** Answers a failed request. */
export type Fail = (error: unknown, req: IncomingMessage, res: ServerResponse) => void;

/**
 * The one place where a failure becomes an answer, in the one error shape. What is not an outcome is a defect: it is told to
 * the log with its cause and to the caller without. See docs/reference/http.md#errors.
 */
export function failures({ asAppError, onDefect, onRejected }: MountOptions): Fail {
  return (error, req, res) => {
    const outcome = error instanceof AppError ? error : (asAppError?.(error) ?? ofExpress(error));
    const { endpoint, requestId } = exchangeOf(req);
    if (!outcome) onDefect(error, { endpoint: endpoint?.id, requestId });
    if (res.headersSent) {
      // Half an answer cannot be taken back; ending the connection shows the client that it is not whole.
      res.destroy();
      return;
    }
    const told = outcome ?? new AppError('internal_error');
    onRejected?.({ endpoint, code: told.errorCode });
    const body = told.toBody();
    // A page may have allowed caches to keep what it was about to answer.
    res.setHeader('Cache-Control', 'no-store');
    for (const [name, value] of Object.entries(told.headers)) res.setHeader(name, value);
    sendJson(res, body.status, body);
  };
}

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
