import type { Role } from '@svc/contract';
import { sha256, type BearerCheck, type Identity } from '@svc/identity';
import type { Store } from '@svc/store';
import { LRUCache } from 'lru-cache';
import { findRole, findTenant, textClaim, toSubject, type ClaimRules } from './claims';
import type { LiveGroups } from './live-groups';
import { CLOCK_SKEW_SEC, type OidcProvider } from './provider';

interface BearerDeps {
  provider: OidcProvider;
  groups: LiveGroups;
  store: Pick<Store, 'users'>;
  roles(): Readonly<Record<string, Role>>;
  isEntitled(): boolean;
}

/** Time for which the user of a token is not read again: within it, a disabled user is refused on every replica. */
const USER_TTL_MS = 500;
const MAX_USERS = 10_000;
const MAX_TOKEN_CHARS = 16_384;

/** Types of tokens that are not for API calls, such as logout tokens. */
const isOtherType = (type: string): boolean => !/^(?:application\/)?(?:at\+)?jwt$|^$/i.test(type);

/**
 * Checks bearer tokens of the provider. A token of a user who is disabled here is refused, and the caller of one who exists here
 * is that user, also for the rule that jobs are not approved by those who submitted them.
 */
export function openOidcBearer(deps: BearerDeps): BearerCheck {
  const { settings } = deps.provider;
  const users = new LRUCache<string, { id: string; isDisabled: boolean }>({ max: MAX_USERS, ttl: USER_TTL_MS });
  const findUser = async (tenant: string, subject: string) => {
    const known = users.get(`${tenant}\n${subject}`);
    if (known) return known;
    const stored = await deps.store.users.findBySubject(tenant, subject);
    const user = { id: stored?.user.id ?? '', isDisabled: stored?.user.disabled ?? false };
    users.set(`${tenant}\n${subject}`, user);
    return user;
  };
  return async (token) => {
    if (!deps.isEntitled() || !settings.audience || token.length > MAX_TOKEN_CHARS) return undefined;
    const verified = await deps.provider.verify(token, settings.audience, []);
    if (!verified || isOtherType(verified.type) || 'events' in verified.claims) return undefined;
    const rules = { ...settings, groups: await deps.groups.current(), roles: deps.roles() };
    const identity = toIdentity(verified.claims, rules);
    if (!identity) return undefined;
    const { tenant, subject, ...rest } = identity;
    const user = await findUser(tenant, subject);
    if (user.isDisabled) return undefined;
    return { ...rest, tenant, submitter: user.id ? `user:${user.id}` : `oidc:${subject.slice(0, 16)}` };
  };
}

type TokenIdentity = Omit<Identity, 'submitter'> & { subject: string };

function toIdentity(claims: Readonly<Record<string, unknown>>, rules: ClaimRules): TokenIdentity | undefined {
  const tenant = findTenant(claims, rules);
  const name = textClaim(claims, 'sub') || textClaim(claims, rules.claims.email);
  const { exp } = claims;
  if (tenant === undefined || name === '' || typeof exp !== 'number') return undefined;
  const sub = textClaim(claims, 'sub');
  return {
    tenant,
    principalId: name,
    role: findRole(claims, rules),
    keyId: '',
    keyName: '',
    // The claims of a provider never lead to other tenants.
    allowCrossTenant: false,
    source: 'oidc',
    subject: sub ? toSubject(rules.issuer, sub) : sha256(`${rules.issuer}\nemail\n${name}`),
    expiresAtMs: (exp + CLOCK_SKEW_SEC) * 1_000,
  };
}
