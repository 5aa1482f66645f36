import { AppError } from '@svc/contract';
import type { IncomingMessage } from 'node:http';
import type { HostCheck } from './hosts';
import type { Incoming } from './incoming';

/** Responses contain tenant data, so they must not be cached. See docs/reference/http.md#requests. */
const apiHeaders = Object.entries({
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
});

/**
 * Sets request id and security headers on every response, also on errors.
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
 * Rejects a second Host header, because Node uses the first and a proxy may use the other, and a host that is not
 * served here.
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
  // HTTP/1.0 requires none, and no browser uses it.
  if (allows && headers.host !== undefined && !allows(headers.host)) {
    throw badHost('this host is not served here; SVC_ALLOWED_HOSTS lists those that are');
  }
}

const badHost = (message: string): AppError =>
  new AppError('invalid_body', { violations: [{ in: 'header', field: 'Host', path: 'Host', message }] });
