import type { Endpoint } from '@svc/contract';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** State of a request while it is served. */
export interface Exchange {
  requestId: string;
  /** The client's address, through trusted proxies only. */
  ip: string;
  startedNs: bigint;
  endpoint?: Endpoint;
  /** The authenticated tenant, for logs. */
  tenant?: string;
}

const slot = Symbol('exchange');
type Marked = IncomingMessage & { [slot]?: Exchange };

/**
 * Starts the exchange of a request: uses the caller's request id when it is well-formed, otherwise generates one.
 * See docs/reference/http.md#requests.
 */
export function openExchange(req: Marked, ip: string): Exchange {
  const given = req.headers['x-request-id'];
  const requestId = typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given) ? given : freshId();
  const exchange: Exchange = { requestId, ip, startedNs: process.hrtime.bigint() };
  req[slot] = exchange;
  return exchange;
}

export const getExchange = (req: Marked): Exchange => req[slot] ?? openExchange(req, req.socket.remoteAddress ?? '');

/** The client's address, for pages that get a Node request. */
export const getClientAddress = (req: Marked): string => getExchange(req).ip;

const idBytes = 8;
let pool = Buffer.alloc(0);
let used = 0;

/** Random bytes are generated for many ids at once, because the call costs more than the bytes. */
function freshId(): string {
  if (used === pool.length) {
    pool = randomBytes(idBytes * 256);
    used = 0;
  }
  used += idBytes;
  return pool.toString('hex', used - idBytes, used);
}

const jsonType = 'application/json; charset=utf-8';

/** Writes a JSON response; undefined = no body. */
export function sendJson(res: ServerResponse, status: number, body: unknown, mediaType = jsonType): void {
  res.statusCode = status;
  if (body === undefined) {
    res.end();
    return;
  }
  sendJsonText(res, status, JSON.stringify(body), mediaType);
}

/** Writes a JSON response that is text already. */
export function sendJsonText(res: ServerResponse, status: number, text: string, mediaType = jsonType): void {
  res.statusCode = status;
  res.setHeader('Content-Type', mediaType);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}

/** Writes text of a media type. */
export function sendText(res: ServerResponse, status: number, media: string, text: string): void {
  res.statusCode = status;
  res.setHeader('Content-Type', `${media}; charset=utf-8`);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}

/** Writes bytes as they are; browsers must not interpret them. */
export function sendBytes(res: ServerResponse, status: number, body: Uint8Array): void {
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/octet-stream');
  res.setHeader('Content-Length', body.length);
  res.end(body);
}
