import {
  authenticator,
  openApiKeys,
  openJwks,
  openJwt,
  openPasswords,
  openSessions,
  SignInLimits,
  type ApiKeys,
  type Authenticate,
  type BearerCheck,
  type Passwords,
  type Sessions,
} from '@svc/identity';
import { startLoops, type Platform } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import { openProviders, type Providers } from '@svc/sso';
import type { Access } from './open-access';
import type { CredentialNotices } from './open-credential-notices';

/** The authenticator of REST, gRPC and the admin pages, and its dependencies. */
export interface GatewayIdentity {
  authenticate: Authenticate;
  keys: ApiKeys;
  sessions: Sessions;
  passwords: Passwords;
  limits: SignInLimits;
  /** Identity providers. */
  providers: Providers;
  /** Whether a tenant is suspended or being deleted. */
  isTenantStopped(tenant: string): boolean;
}

const KEY_FILE_CHECK_MS = 500;

/**
 * @param notices streams are checked when a session ends or the key file changes
 * @param isTenantStopped whether a tenant is suspended or being deleted
 * @throws Error naming the variable when keys cannot be read
 */
export function openIdentity(
  boot: Boot<ApiEnv>,
  { store, license }: Pick<Platform, 'store' | 'license'>,
  notices: CredentialNotices,
  { managedKeys, roleBook }: Access,
  isTenantStopped: (tenant: string) => boolean = () => false,
): GatewayIdentity {
  const { env, clock, log, onStop } = boot;
  const nowMs = () => clock.nowMs();
  const onProblem = (problem: Error) =>
    log.error('credentials cannot be read; keeping the previous ones', { error: problem });
  const keys = openApiKeys(
    {
      key: env.apiKey ?? '',
      keys: env.apiKeys ?? '',
      path: env.apiKeysPath ?? '',
      defaultTenant: env.defaultTenant,
      production: env.production,
      skipSecretValidation: env.skipSecretValidation,
    },
    {
      nowMs,
      onProblem,
      onChanged: () => notices.changes.anyChanged(),
      onAdminByDefault: (origin, entries) =>
        log.warn('keys without a role have role admin; set a role', {
          variable: origin,
          entries: entries.join(', '),
        }),
    },
  );
  const sessions = openSessions(store.sessions, {
    ttlMs: env.sessionTtlMs,
    idleMs: env.sessionIdleMs,
    nowMs,
    onEnded: notices.announce,
    onChange: notices.changes.onChange,
  });
  const limits = new SignInLimits(store.redis, {
    maxAttempts: env.maxLoginAttempts,
    maxGlobalAttempts: env.maxGlobalLoginAttempts,
    periodMs: env.loginLockoutMs,
  });
  if (env.apiKeysPath) {
    // Requests read a changed file anyway, but open streams make none.
    const refresh = { name: 'key-file', everyMs: KEY_FILE_CHECK_MS, run: async () => keys.refresh() };
    const failed = (_: string, error: unknown) =>
      log.oncePer('key-file', 10_000).warn('checking the key file failed', { error });
    onStop('key-file', startLoops([refresh], failed));
  }
  const providers = openProviders(boot, { store, license, roles: () => roleBook.all() });
  const bearer = [
    ...openBearer(env, { nowMs, onProblem, onChanged: () => notices.changes.anyChanged() }),
    ...(providers.bearer ? [providers.bearer] : []),
  ];
  const authenticate = authenticator(
    {
      keys: [keys, managedKeys],
      bearer,
      sessions,
      roles: () => roleBook.all(),
      isTenantStopped,
      onAuthenticated: (identity) => managedKeys.countUse(identity),
    },
    {
      defaultTenant: env.defaultTenant,
      allowAnonymous: env.allowInsecureNoAuth,
      allowHeaderPrincipal: env.allowHeaderPrincipal,
      jwtRequired: env.jwtRequired,
      production: env.production,
    },
  );
  return { authenticate, keys, sessions, passwords: openPasswords(), limits, providers, isTenantStopped };
}

/** Tokens of static keys first, then those of an issuer with a key set. */
function openBearer(env: ApiEnv, hooks: Parameters<typeof openJwt>[1]): BearerCheck[] {
  const rules = {
    issuer: env.jwtIssuer ?? '',
    audience: env.jwtAudience ?? '',
    defaultRole: env.jwtDefaultRole,
    clockSkewSec: env.jwtClockSkewMs / 1_000,
    defaultTenant: env.defaultTenant,
    production: env.production,
  };
  const jwt = openJwt(
    {
      ...rules,
      hmacSecret: env.jwtHmacSecret ?? '',
      publicKey: env.jwtPublicKey ?? '',
      publicKeyPath: env.jwtPublicKeyPath ?? '',
    },
    hooks,
  );
  const url = env.jwtJwksUrl;
  return [
    ...(jwt ? [jwt] : []),
    ...(url ? [openJwks({ ...rules, url, allowPrivate: env.jwtJwksAllowPrivate }, hooks)] : []),
  ];
}
