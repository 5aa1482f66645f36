import type { IncomingMessage } from 'node:http';
import type { OriginCheck } from './cors';

/**
 * Whether a request authenticated by the session cookie may be forged (CSRF): an unsafe method requires a trusted origin
 * and a header that no HTML form can set. Runs after authentication, which determines the credential in use; a request
 * with an explicit credential is never forged.
 */
export function isForged({ method = 'GET', headers }: IncomingMessage, allows: OriginCheck): boolean {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return false;
  const { origin, host } = headers;
  const trusted =
    headers['sec-fetch-site'] === 'same-origin' || (origin !== undefined && origin !== 'null' && allows(origin, host));
  const deliberate =
    headers['x-requested-with'] !== undefined ||
    headers['x-tenant-id'] !== undefined ||
    /^application\/json\b/i.test(headers['content-type'] ?? '');
  return !trusted || !deliberate;
}

/** Whether a page of another origin sends the request. Clients other than browsers send neither header. */
export function isForeignPage({ headers }: IncomingMessage, allows: OriginCheck): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin') return false;
  if (origin !== undefined) return origin === 'null' || !allows(origin, host);
  return site !== undefined && site !== 'none';
}
