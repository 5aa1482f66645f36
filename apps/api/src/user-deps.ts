import type { Audit } from '@svc/audit';
import { sealedTextsFrom } from '@svc/identity';
import type { Base, Platform } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import { describeProviders } from '@svc/sso';
import { bootstrapAdmin, type UserContext } from '@svc/users';
import type { CredentialNotices } from './open-credential-notices';
import type { Access } from './open-access';
import type { GatewayIdentity } from './open-identity';

interface UserParts extends Base {
  platform: Pick<Platform, 'license'>;
  identity: GatewayIdentity;
  access: Access;
  notices: CredentialNotices;
  audit: Pick<Audit, 'audited' | 'refusals'>;
}

/** Dependencies of the routes of users and sign-in. */
export function userDeps(
  env: ApiEnv,
  { store, clock, random, platform: { license }, identity, access: { roleBook }, notices, audit }: UserParts,
): UserContext['users'] {
  const { authenticate, keys, sessions, passwords, limits, isTenantStopped } = identity;
  return {
    ...{ store, clock, random, authenticate, sessions, passwords, limits, isTenantStopped },
    sealed: sealedTextsFrom(env),
    roles: () => roleBook.all(),
    rbac: () => license.entitlements().rbac,
    takesApiKeys: () => keys.count() > 0 && !env.jwtRequired,
    sso: () => describeProviders(identity.providers, license),
    audited: (...args) => audit.audited(...args),
    onRefused: (refused) => audit.refusals.note(refused),
    announce: (id) => notices.announce(id),
    secureCookies: env.production,
    settings: { isEnabled: env.userAuth, defaultTenant: env.defaultTenant, sessionTtlMs: env.sessionTtlMs },
  };
}

/** Creates the administrator of the environment at the first start. */
export async function createFirstAdmin(
  { env, log }: Pick<Boot<ApiEnv>, 'env' | 'log'>,
  { users }: UserContext,
): Promise<void> {
  const { userAuth, adminUsername: username, adminPassword: password, adminEmail: email, defaultTenant: tenant } = env;
  if (!userAuth || password === undefined) return;
  const onWeak = (problem: string) => log.warn('SVC_ADMIN_PASSWORD is weak; replace it', { problem });
  const admin = { tenant, username, password, ...(email && { email }) };
  if (await bootstrapAdmin({ ...users, onWeak }, admin)) log.info('administrator created', { tenant, username });
}
