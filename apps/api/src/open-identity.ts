import {
  authenticator,
  openApiKeys,
  openJwt,
  openSessions,
  type ApiKeys,
  type Authenticate,
  type Sessions,
} from '@svc/identity';
import type { ApiEnv, Boot } from '@svc/runtime';
import { keys as storeKeys } from '@svc/store';
import type { Redis } from 'ioredis';

/** The authenticator of REST, gRPC and the admin pages, and its dependencies. */
export interface GatewayIdentity {
  authenticate: Authenticate;
  keys: ApiKeys;
  sessions: Sessions;
}

/** @throws Error naming the variable when keys cannot be read */
export function openIdentity({ env, clock, log }: Boot<ApiEnv>, redis: Redis): GatewayIdentity {
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
    { nowMs, onProblem },
  );
  const sessions = openSessions(redis, {
    keyOf: (digest) => storeKeys.session(digest),
    ttlSec: env.sessionTtlMs / 1_000,
    nowMs,
  });
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
