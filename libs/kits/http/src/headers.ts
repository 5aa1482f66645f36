import { AppError } from '@svc/contract';
import type { IncomingMessage } from 'node:http';
import type { HostCheck } from './hosts';
import type { Incoming } from './incoming';

/** Answers hold data of a tenant, so no cache may keep them. See docs/reference/http.md#requests. */
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
 * Refuses a second Host header, as Node keeps the first and a proxy may have looked at the other, and a host that is not
 * served here. Quality: HTTP.
 *
 * @param allows absent = any host
 * @throws invalid_body
 */
export function requireHost({ rawHeaders, headers }: IncomingMessage, allows: HostCheck | undefined): void {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) throw badHost('send it once');
  // HTTP/1.0 needs none, and no browser speaks it.
  if (allows && headers.host !== undefined && !allows(headers.host)) {
    throw badHost('this host is not served here; SVC_ALLOWED_HOSTS lists those that are');
  }
}

const badHost = (message: string): AppError =>
  new AppError('invalid_body', { violations: [{ in: 'header', field: 'Host', path: 'Host', message }] });
