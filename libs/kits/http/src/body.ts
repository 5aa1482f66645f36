import { AppError, tierLimit, type ErrorCode } from '@svc/contract';
import type { IncomingMessage } from 'node:http';
import { parse as parseFields } from 'node:querystring';
import { parse as safeParse } from 'secure-json-parse';

/** Maximum nesting depth of a body. */
const maxDepth = 64;

/** Limit of a body in bytes, and the error of a larger one. */
export interface BodyLimit {
  bytes: number;
  tooLarge(): AppError;
}

export const configuredLimit = (bytes: number, code: ErrorCode = 'request_too_large'): BodyLimit => ({
  bytes,
  tooLarge: () => new AppError(code, { limit_bytes: bytes }),
});

/** The limit of the license, if it is lower. @param licensedBytes 0 or less = the license sets none */
export const licensedLimit = (limit: BodyLimit, licensedBytes: number): BodyLimit =>
  licensedBytes > 0 && licensedBytes < limit.bytes
    ? {
        bytes: licensedBytes,
        tooLarge: () =>
          tierLimit({
            message: `the plan allows bodies of ${licensedBytes} bytes`,
            limit: 'max_body_bytes',
            current: licensedBytes + 1,
            allowed: licensedBytes,
          }),
      }
    : limit;

/**
 * Reads a body up to a limit, before validation.
 *
 * @throws the error of the limit as soon as it is exceeded; the rest is discarded
 */
export function readBody(req: IncomingMessage, limit: BodyLimit): Promise<Buffer> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > limit.bytes) {
    req.resume();
    return Promise.reject(limit.tooLarge());
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isWhole = false;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit.bytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(limit.tooLarge());
      }
    });
    req.on('end', () => {
      isWhole = true;
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    // A client that disconnects mid-body must not leak this promise. Not a defect.
    const gone = () => {
      if (!isWhole) reject(new AppError('invalid_json', { error: 'the request body is not complete' }));
    };
    req.on('error', gone);
    req.on('close', gone);
  });
}

const notJson = (error?: string) => new AppError('invalid_json', error ? { error } : {});

/**
 * Parses a JSON body. Rejects keys that reach a prototype, and deep nesting.
 *
 * @returns undefined for an empty body
 * @throws invalid_json, unsupported_media_type
 */
export function parseBody(bytes: Buffer, { headers }: IncomingMessage): unknown {
  if (bytes.length === 0) return undefined;
  const type = headers['content-type'] ?? 'application/json';
  const encoding = headers['content-encoding'] ?? 'identity';
  if (!/^application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(type) || encoding !== 'identity') {
    throw new AppError('unsupported_media_type');
  }
  return parseJson(bytes);
}

/** Maximum number of fields of a form. */
const MAX_FORM_FIELDS = 20;

/**
 * Parses the body of an HTML form. A repeated field is a list.
 *
 * @returns undefined for an empty body
 * @throws unsupported_media_type
 */
export function parseForm(bytes: Buffer, { headers }: IncomingMessage): unknown {
  if (bytes.length === 0) return undefined;
  const encoding = headers['content-encoding'] ?? 'identity';
  const isForm = /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '');
  if (!isForm || encoding !== 'identity') throw new AppError('unsupported_media_type');
  return { ...parseFields(bytes.toString('utf8'), '&', '=', { maxKeys: MAX_FORM_FIELDS }) };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses untrusted JSON text: UTF-8, without keys that reach a prototype, at most 64 levels deep.
 *
 * @throws invalid_json
 */
export function parseJson(bytes: Uint8Array): unknown {
  const value = parsed(bytes);
  if (isDeeperThan(value, maxDepth)) throw notJson(`the request body is nested deeper than ${maxDepth} levels`);
  return value;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return safeParse(utf8.decode(bytes), null, { protoAction: 'error', constructorAction: 'error' }) as unknown;
  } catch {
    throw notJson();
  }
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  for (const item of Object.values(value)) if (isDeeperThan(item, depth - 1)) return true;
  return false;
}
