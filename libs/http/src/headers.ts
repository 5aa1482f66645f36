import { AppError } from '@svc/contract';
import type { IncomingMessage } from 'node:http';
import type { Incoming } from './incoming';

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
export function baseHeaders(hstsMaxAgeSec: number | undefined): (incoming: Incoming) => void {
  const hsts = hstsMaxAgeSec && `max-age=${hstsMaxAgeSec}; includeSubDomains`;
  return ({ res, exchange }) => {
    res.setHeader('X-Request-Id', exchange.requestId);
    for (const [name, value] of apiHeaders) res.setHeader(name, value);
    if (hsts) res.setHeader('Strict-Transport-Security', hsts);
  };
}

/**
 * Refuses a second Host header: Node keeps the first, a proxy may have looked at the other. Quality: HTTP.
 *
 * @throws invalid_body
 */
export function requireOneHost({ rawHeaders }: IncomingMessage): void {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts <= 1) return;
  throw new AppError('invalid_body', {
    violations: [{ in: 'header', field: 'Host', path: 'Host', message: 'send it once' }],
  });
}
