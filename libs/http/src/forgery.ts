import { sessionCookie } from '@svc/identity';
import type { IncomingMessage } from 'node:http';
import type { OriginCheck } from './cors';

/**
 * Whether a request rides on the session cookie without showing that a page of ours, or an allowed one, sent it: an unsafe
 * method needs a trusted origin and a header that no form can set. Requests with credentials of their own are never forged.
 * Quality: CSRF.
 */
export function isForged({ method = 'GET', headers }: IncomingMessage, allows: OriginCheck): boolean {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return false;
  if (headers.authorization || headers['x-api-key'] || !sessionCookie(headers.cookie)) return false;
  const { origin, host } = headers;
  const trusted =
    headers['sec-fetch-site'] === 'same-origin' || (origin !== undefined && origin !== 'null' && allows(origin, host));
  const deliberate =
    headers['x-requested-with'] !== undefined ||
    headers['x-tenant-id'] !== undefined ||
    /^application\/json\b/i.test(headers['content-type'] ?? '');
  return !trusted || !deliberate;
}
