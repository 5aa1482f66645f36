import { AppError, tierLimit } from '@svc/contract';
import { sameDigest, sha256 } from '@svc/identity';
import type { ScimDeps } from '../scim-deps';

type TokenDeps = Pick<ScimDeps, 'tokens' | 'license' | 'clock' | 'settings' | 'defaultTenant'>;

/**
 * Verifies the token of a SCIM client. See docs/reference/scim.md#token.
 *
 * @returns the tenant that it is for
 * @throws tier_limit_exceeded, scim_not_configured, unauthorized
 */
export async function checkScimToken(deps: TokenDeps, authorization: string | undefined): Promise<{ tenant: string }> {
  if (!deps.license.entitlements().scim) {
    throw tierLimit({ message: 'the license does not include SCIM', limit: 'scim' });
  }
  const digests = await listDigests(deps);
  if (digests.length === 0) throw new AppError('scim_not_configured');
  const sent = sha256(/^bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1] ?? '');
  // Each is compared, so that the time does not depend on which of them is right.
  const isValid = digests.map((digest) => sameDigest(digest, sent)).includes(true);
  if (isValid) return { tenant: deps.defaultTenant };
  throw new AppError(
    'unauthorized',
    { error: 'the SCIM token is missing or not valid' },
    { 'WWW-Authenticate': 'Bearer' },
  );
}

/** Digests of the tokens that are valid now. A token that was issued here replaces that of the environment. */
async function listDigests({ tokens, clock, settings: { bearerToken } }: TokenDeps): Promise<string[]> {
  const issued = await tokens.get();
  if (!issued) return bearerToken ? [sha256(bearerToken)] : [];
  const isOverlap = issued.previous !== '' && clock.nowMs() < issued.previousUntilMs;
  return isOverlap ? [issued.digest, issued.previous] : [issued.digest];
}
