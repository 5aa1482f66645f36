import { AppError, type AuditAct } from '@svc/contract';
import { answer } from '@svc/http';
import { sha256 } from '@svc/identity';
import { isRecord } from '@svc/json';
import { keys } from '@svc/store';
import * as oidc from 'openid-client';
import { chooseTarget } from '../redirect-target';
import { listLogoutNames, textClaim, type Claims } from './claims';
import { CLOCK_SKEW_SEC } from './provider';
import type { OidcDeps } from './sign-in';

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** Time for which the id of a logout token without a plausible expiry is remembered. */
const MAX_TOKEN_AGE_MS = 3_600_000;

/** Redirects to the provider, which signs the user out there. @throws upstream_service_error */
export async function redirectToLogout(deps: OidcDeps, wanted: string | undefined) {
  const config = await deps.provider.config();
  const target = chooseTarget(wanted, deps.defaultPage);
  const page = target.kind === 'page' ? target.url : deps.defaultPage;
  const hasEndpoint = config.serverMetadata().end_session_endpoint !== undefined;
  const location = hasEndpoint ? oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: page }).href : page;
  return answer(undefined, { headers: { Location: location } });
}

/**
 * Ends the sessions of a user who signed out at the provider. A repeated token changes nothing.
 * OpenID Connect Back-Channel Logout 1.0, section 2.6.
 *
 * @throws oidc_logout_token_invalid
 */
export async function endSessionsAtLogout(deps: OidcDeps, token: string, requestId: string): Promise<void> {
  const claims = await verifyLogoutToken(deps, token);
  const { clock, pending } = deps;
  const untilMs = typeof claims['exp'] === 'number' ? (claims['exp'] + CLOCK_SKEW_SEC) * 1_000 : clock.nowMs() + MAX_TOKEN_AGE_MS;
  for (const id of await findUsers(deps, claims)) await endSessions(deps, id, requestId);
  // Remembered after the sessions ended: a process that dies before this ends them again, which changes nothing for others.
  await pending.useOnce(`logout\n${deps.provider.settings.issuer}\n${textClaim(claims, 'jti')}`, untilMs, clock.nowMs());
} // prettier-ignore

async function verifyLogoutToken({ provider, redis }: OidcDeps, token: string): Promise<Claims> {
  const { settings } = provider;
  const verified = await provider.verify(token, settings.clientId, ['iat', 'jti', 'events']);
  const claims: Claims = verified?.claims ?? {};
  const isLogout = isRecord(claims['events']) && isRecord(claims['events'][logoutEvent]);
  const isNamed = textClaim(claims, 'sub') !== '' || textClaim(claims, 'sid') !== '';
  const hasType = /^(?:application\/)?(?:logout\+)?jwt$|^$/i.test(verified?.type ?? 'none');
  // An id token has a nonce; it must not be accepted as a logout token.
  if (!isLogout || !isNamed || !hasType || 'nonce' in claims) throw new AppError('oidc_logout_token_invalid');
  const seen = await redis.exists(
    keys.providerMessage(sha256(`logout\n${settings.issuer}\n${textClaim(claims, 'jti')}`)),
  );
  if (seen > 0) throw new AppError('oidc_logout_token_invalid', { error: 'this logout token was used before' });
  return claims;
}

/** Users who signed in with the session or as the subject of a logout token; none when that is longer ago than a session lasts. */
async function findUsers({ redis, provider }: OidcDeps, claims: Claims): Promise<string[]> {
  const names = listLogoutNames(provider.settings.issuer, claims);
  const ids = await Promise.all(names.map((name) => redis.get(keys.providerSession(name))));
  return [...new Set(ids.flatMap((id) => id ?? []))];
}

/** Ends the sessions that the user opened at this provider; those of a password stay. */
async function endSessions(deps: OidcDeps, userId: string, requestId: string): Promise<void> {
  const stored = await deps.store.users.get(userId);
  if (!stored) return;
  const { user, generation } = stored;
  const owner = { kind: 'user', userId, generation } as const;
  const sessions = await deps.sessions.list(owner);
  const ids = sessions.filter(({ record }) => record.method === 'oidc').map(({ id }) => id);
  if (ids.length === 0) return;
  await deps.audited(user.tenant, buildAct(userId, user.username, requestId), () => deps.sessions.endSome(owner, ids));
}

const buildAct = (id: string, username: string, requestId: string): AuditAct => ({
  event_type: 'system.auth',
  action: 'auth.sign_out',
  severity: 'INFO',
  identity: username,
  reason: 'signed out at the provider',
  extra: { auth_method: 'oidc', resource_type: 'user', resource_id: id, request_id: requestId },
});
