import { AppError, type Access, type Caller } from '@svc/contract';
import { getClientAddress, getCredentials, guessBucket, mayUse } from '@svc/http';
import { findCredentialKind } from '@svc/identity';
import type { Request } from 'express';
import type { AdminDeps } from './deps';

/** Role admin, or `admin.*` when RBAC is entitled: these pages show data that all other permissions guard. */
export const adminAccess: Access = { permission: 'admin.*', roles: ['admin'] };

/** Checked against key scopes: the pages belong to no resource and are read-only. */
const adminPages = { method: 'get', path: '/admin' } as const;

/**
 * Authenticates a request for an admin page by session cookie, API key or bearer token. Failed attempts count against the
 * same rate limit as on the REST routes.
 *
 * @throws unauthorized, access_denied, rate_limited, and other errors of the authenticator
 */
export async function admit(req: Request, { surface }: AdminDeps): Promise<Caller> {
  const { method, originalUrl } = req;
  const path = originalUrl.split('?', 1)[0] ?? '';
  const presented = getCredentials(req, adminPages);
  const outcome = await surface.authenticate(presented);
  if (outcome.kind === 'refused') {
    const ip = getClientAddress(req);
    const requestId = String(req.res?.getHeader('X-Request-Id') ?? '');
    const credential = findCredentialKind(presented);
    surface.onRefused?.({ code: outcome.code, credential, method, path, ip, requestId });
    if (presentsCredentials(req)) await takeGuess(ip, surface);
    throw new AppError(outcome.code, outcome.extras);
  }
  // Anonymous access is for trying out the API; it does not include the admin pages.
  if (outcome.caller.source === 'anonymous') throw new AppError('unauthorized');
  if (!mayUse(outcome.caller, adminAccess, surface.gate)) throw new AppError('access_denied');
  return outcome.caller;
}

const presentsCredentials = ({ headers }: Request): boolean =>
  Boolean(headers.authorization || headers['x-api-key'] || headers.cookie);

async function takeGuess(ip: string, { rateLimits }: AdminDeps['surface']): Promise<void> {
  const verdict = await rateLimits?.api(guessBucket(ip));
  if (verdict && !verdict.allowed) throw new AppError('rate_limited', {}, { ...verdict.headers });
}
