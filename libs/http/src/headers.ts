import { AppError } from '@svc/contract';
import type { RequestHandler } from 'express';
import { openExchange } from './exchange';

/** Core contract 1.6. Answers hold data of a tenant, so no cache may keep them. */
const apiHeaders = Object.entries({
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
});

/**
 * Request id and security headers on every answer, also on errors.
 *
 * @param hstsMaxAgeSec set in production with TLS; absent = no Strict-Transport-Security
 */
export function baseHeaders(hstsMaxAgeSec: number | undefined): RequestHandler {
  const hsts = hstsMaxAgeSec && `max-age=${hstsMaxAgeSec}; includeSubDomains`;
  return (req, res, next) => {
    res.setHeader('X-Request-Id', openExchange(req).requestId);
    for (const [name, value] of apiHeaders) res.setHeader(name, value);
    if (hsts) res.setHeader('Strict-Transport-Security', hsts);
    next();
  };
}

/** Refuses a second Host header: Node keeps the first, a proxy may have looked at the other. Quality: HTTP. */
export const oneHost: RequestHandler = (req, _res, next) => {
  const { rawHeaders } = req;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === 'host') hosts += 1;
  if (hosts <= 1) return next();
  next(
    new AppError('invalid_body', {
      violations: [{ in: 'header', field: 'Host', path: 'Host', message: 'send it once' }],
    }),
  );
};
