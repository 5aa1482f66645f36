import { AppError } from '@svc/contract';
import cors from 'cors';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopbackName } from './hosts';

const options = {
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  allowedHeaders: [
    'Content-Type', 'Authorization', 'X-API-Key', 'X-Tenant-ID', 'X-Principal-Id', 'X-Principal-Role', 'X-Request-Id',
    'Idempotency-Key', 'X-Idempotency-Key', 'If-Match',
  ], // prettier-ignore
  exposedHeaders: [
    'X-Request-Id', 'X-Trace-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After', 'ETag',
    'Idempotency-Replayed',
  ], // prettier-ignore
  credentials: true,
  optionsSuccessStatus: 204,
  // `true` answers with the request's own origin, which has passed the check below.
  origin: true,
};

/** Whether an origin is allowed. `host` is the request's Host header. */
export type OriginCheck = (origin: string, host: string | undefined) => boolean;

/**
 * Exact origins; with none configured, the origin the service is reached at, and loopback where that is trusted. `null`
 * (sandboxed frames, files) is never allowed. WebSocket upgrades use the same check.
 */
export function originCheck(allowed: readonly string[], { trustsLoopback }: { trustsLoopback: boolean }): OriginCheck {
  const listed = new Set(allowed.map((origin) => origin.trim().replace(/\/$/, '').toLowerCase()).filter(Boolean));
  if (listed.size > 0) return (origin) => listed.has(origin.toLowerCase());
  return (origin, host) => {
    const url = URL.canParse(origin) ? new URL(origin) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return false;
    return (trustsLoopback && isLoopbackName(url.hostname)) || url.host === host?.toLowerCase();
  };
}

/** A page of the service itself, such as `/swagger/`; browsers prevent other sites from forging this. */
const isOwnPage = ({ headers }: IncomingMessage): boolean => headers['sec-fetch-site'] === 'same-origin';

/**
 * Sets CORS headers, and answers preflights with 204.
 *
 * @returns whether the request has been answered
 * @throws (from the returned function) origin_not_allowed
 */
export function crossOrigin(allows: OriginCheck): (req: IncomingMessage, res: ServerResponse) => boolean {
  const allow = cors<IncomingMessage>(options);
  return (req, res) => {
    const { origin, host } = req.headers;
    if (origin === undefined) {
      if (req.method === 'OPTIONS') res.writeHead(204).end();
    } else if (!isOwnPage(req) && !allows(origin, host)) {
      throw new AppError('origin_not_allowed');
    } else {
      allow(req, res, () => undefined);
    }
    return res.writableEnded;
  };
}
