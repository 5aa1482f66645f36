import type { IncomingMessage } from 'node:http';
import type { OriginCheck } from './cors';

/**
 * Whether a request that was authenticated by the session cookie lacks a sign that a page of ours, or an allowed one, sent it:
 * an unsafe method needs a trusted origin and a header that no form can set. Only the authenticator knows which of the
 * credentials counted, so this is asked after it; a request known by a credential of its own is never forged. Quality: CSRF.
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
