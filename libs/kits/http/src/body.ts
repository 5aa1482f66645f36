import { AppError, type ErrorCode } from '@svc/contract';
import type { IncomingMessage } from 'node:http';
import { parse as safeParse } from 'secure-json-parse';

/** Maximum nesting depth of a body. */
const maxDepth = 64;

const tooLarge = (code: ErrorCode, limitBytes: number) => new AppError(code, { limit_bytes: limitBytes });

/**
 * Reads a body up to a limit, before validation.
 *
 * @throws `code` as soon as the limit is exceeded; the rest is discarded
 */
export function readBody(
  req: IncomingMessage,
  limitBytes: number,
  code: ErrorCode = 'request_too_large',
): Promise<Buffer> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > limitBytes) {
    req.resume();
    return Promise.reject(tooLarge(code, limitBytes));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isWhole = false;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(tooLarge(code, limitBytes));
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
