import {
  authenticator,
  openApiKeys,
  openJwt,
  openSessions,
  type ApiKeys,
  type Authenticate,
  type Sessions,
} from '@svc/identity';
import { startLoops } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import { keys as storeKeys } from '@svc/store';
import type { Redis } from 'ioredis';
import type { CredentialNotices } from './open-credential-notices';

/** The authenticator of REST, gRPC and the admin pages, and its dependencies. */
export interface GatewayIdentity {
  authenticate: Authenticate;
  keys: ApiKeys;
  sessions: Sessions;
}

const KEY_FILE_CHECK_MS = 500;

/**
 * @param notices streams are checked when a session ends or the key file changes
 * @throws Error naming the variable when keys cannot be read
 */
export function openIdentity(
  { env, clock, log, onStop }: Boot<ApiEnv>,
  redis: Redis,
  notices: CredentialNotices,
): GatewayIdentity {
  const nowMs = () => clock.nowMs();
  const onProblem = (problem: Error) =>
    log.error('credentials file is invalid; keeping the previous one', { error: problem });
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
  const jwt = openJwt(
    {
      hmacSecret: env.jwtHmacSecret ?? '',
      publicKey: env.jwtPublicKey ?? '',
      publicKeyPath: env.jwtPublicKeyPath ?? '',
      issuer: env.jwtIssuer ?? '',
      audience: env.jwtAudience ?? '',
      defaultRole: env.jwtDefaultRole,
      clockSkewSec: env.jwtClockSkewMs / 1_000,
      defaultTenant: env.defaultTenant,
      production: env.production,
    },
    { nowMs, onProblem, onChanged: () => notices.changes.anyChanged() },
  );
  const sessions = openSessions(redis, {
    keyOf: (digest) => storeKeys.session(digest),
    ttlSec: env.sessionTtlMs / 1_000,
    nowMs,
    onEnded: notices.announce,
  });
  if (env.apiKeysPath) {
    // Requests read a changed file anyway, but open streams make none.
    const refresh = { name: 'key-file', everyMs: KEY_FILE_CHECK_MS, run: async () => keys.refresh() };
    const failed = (_: string, error: unknown) =>
      log.oncePer('key-file', 10_000).warn('checking the key file failed', { error });
    onStop('key-file', startLoops([refresh], failed));
  }
  const authenticate = authenticator(
    { keys: [keys], bearer: jwt ? [jwt] : [], sessions },
    {
      defaultTenant: env.defaultTenant,
      allowAnonymous: env.allowInsecureNoAuth,
      allowHeaderPrincipal: env.allowHeaderPrincipal,
      jwtRequired: env.jwtRequired,
      production: env.production,
    },
  );
  return { authenticate, keys, sessions };
}
