import type { Endpoint } from '@svc/contract';
import type { Request, Response } from 'express';
import { randomBytes } from 'node:crypto';

/** What is known of a request while it is being served; kept beside the request, not on it. */
export interface Exchange {
  requestId: string;
  startedNs: bigint;
  endpoint?: Endpoint;
  /** The authenticated tenant, for logs. */
  tenant?: string;
}

const exchanges = new WeakMap<Request, Exchange>();

/** Starts the exchange of a request: takes the caller's request id when it is a plain one, else makes one. Core contract 1.6. */
export function openExchange(req: Request): Exchange {
  const given = req.headers['x-request-id'];
  const requestId =
    typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given) ? given : randomBytes(8).toString('hex');
  const exchange: Exchange = { requestId, startedNs: process.hrtime.bigint() };
  exchanges.set(req, exchange);
  return exchange;
}

export const exchangeOf = (req: Request): Exchange => exchanges.get(req) ?? openExchange(req);

/** Writes a JSON answer; undefined = no body. */
export function sendJson(res: Response, status: number, body: unknown): void {
  res.statusCode = status;
  if (body === undefined) {
    res.end();
    return;
  }
  const bytes = Buffer.from(JSON.stringify(body));
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', bytes.length);
  res.end(bytes);
}
