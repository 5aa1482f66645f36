import type { Platform } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import { openSso, type SsoContext, type SsoParts } from '@svc/sso';
import { getAuthConfig, type UserContext } from '@svc/users';
import type { GatewayIdentity } from './open-identity';

interface SsoDepsParts {
  platform: Pick<Platform, 'license'>;
  identity: Pick<GatewayIdentity, 'providers'>;
  users: UserContext['users'];
  /** For changes of config documents. */
  changes: Omit<SsoParts['groups'], 'defaultTenant' | 'rbac'>;
}

/** Dependencies of the routes of sign-in at providers. */
export function ssoDeps(
  boot: Pick<Boot<ApiEnv>, 'env' | 'log'>,
  { platform: { license }, identity: { providers }, users, changes }: SsoDepsParts,
): SsoContext['sso'] {
  const { store, clock, random, roles, rbac, isTenantStopped } = users;
  const { sessions, audited, onRefused, announce, secureCookies } = users;
  const { defaultTenant } = boot.env;
  return openSso(boot, {
    ...{
      store,
      clock,
      random,
      roles,
      isTenantStopped,
      sessions,
      audited,
      onRefused,
      announce,
      secureCookies,
      license,
      providers,
    },
    groups: { ...changes, rbac, defaultTenant },
    readAuthConfig: () => getAuthConfig(users),
  });
}
