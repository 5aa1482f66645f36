import {
  AppError,
  everyTenant,
  managedScope,
  scimForm,
  type Caller,
  type IssuedScimToken,
  type ScimSettings,
} from '@svc/contract';
import { sha256 } from '@svc/identity';
import { buildAct, MAX_TRIES, type ScimDeps } from '../scim-deps';

/** Time for which the token before a new one stays valid, ms. */
export const TOKEN_OVERLAP_MS = 10 * 60_000;
const VISIBLE_START = 8;
const VISIBLE_END = 4;

/** @throws tenant_access_denied */
export async function readScimSettings(deps: ScimDeps, caller: Caller, baseUrl: string): Promise<ScimSettings> {
  requireAdministrator(deps, caller);
  const { bearerToken } = deps.settings;
  const [issued, users] = await Promise.all([deps.tokens.get(), deps.store.users.list(deps.defaultTenant)]);
  return {
    entitled: true,
    configured: issued !== undefined || bearerToken !== undefined,
    endpointUrl: `${baseUrl}${scimForm.basePath}/Users`,
    bearerTokenMasked: issued?.mask ?? (bearerToken ? toMask(bearerToken) : ''),
    tokenManagedBy: issued ? 'redis' : bearerToken ? 'env' : 'none',
    users: users
      .filter(({ user }) => user.source === 'scim')
      .map(({ user }) => ({
        id: user.id,
        userName: user.username,
        displayName: user.display_name ?? '',
        email: user.email ?? '',
        source: user.source,
        active: !user.disabled,
        syncedAt: user.synced_at ?? user.updated_at,
      })),
  };
}

/**
 * Issues a token. The one before it, also that of the environment, stays valid for `TOKEN_OVERLAP_MS`.
 *
 * @param newToken 32 random bytes, base64url
 * @throws tenant_access_denied, scim_conflict
 */
export async function rotateScimToken(
  deps: ScimDeps,
  { caller, requestId }: { caller: Caller; requestId: string },
  newToken: () => string,
): Promise<IssuedScimToken> {
  requireAdministrator(deps, caller);
  const { tokens, clock, settings, defaultTenant } = deps;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await tokens.get();
    const bearerToken = `scim-${newToken()}`;
    const mask = toMask(bearerToken);
    const nowMs = clock.nowMs();
    const identity = caller.principalId || caller.submitterId;
    const act = buildAct('scim.token_issued', { requestId }, { type: 'scim_token', id: mask });
    const outcome = await tokens.write(defaultTenant, {
      expected: before?.revision ?? 0,
      digest: sha256(bearerToken),
      mask,
      previous: before?.digest ?? (settings.bearerToken ? sha256(settings.bearerToken) : ''),
      previousUntilMs: nowMs + TOKEN_OVERLAP_MS,
      act: { ...act, severity: 'HIGH', identity, extra: { ...act.extra, source: caller.source, key_id: caller.keyId } },
    });
    if (outcome === 'written') return { bearerToken, bearerTokenMasked: mask, tokenManagedBy: 'redis' };
  }
  throw new AppError('scim_conflict');
}

/** SCIM manages the users of the default tenant, so only its admins may set it up. */
function requireAdministrator(deps: ScimDeps, caller: Caller): void {
  if (managedScope(caller, deps.defaultTenant) !== everyTenant) throw new AppError('tenant_access_denied');
}

/** A shorter token is not shown at all. */
function toMask(token: string): string {
  const shown = VISIBLE_START + VISIBLE_END;
  if (token.length < shown * 2) return '*'.repeat(shown);
  return `${token.slice(0, VISIBLE_START)}${'*'.repeat(token.length - shown)}${token.slice(-VISIBLE_END)}`;
}
