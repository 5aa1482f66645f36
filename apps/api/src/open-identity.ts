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

/** Who may call: the one authenticator of REST, gRPC and the admin pages, and what it stands on. */
export interface GatewayIdentity {
  authenticate: Authenticate;
  keys: ApiKeys;
  sessions: Sessions;
}

/** @throws Error naming the variable when keys cannot be read */
export function openIdentity({ env, clock, log }: Boot<ApiEnv>, redis: Redis): GatewayIdentity {
  const nowMs = () => clock.nowMs();
  const onProblem = (problem: Error) =>
    log.error('credentials file is not used, the last good one stands', { error: problem });
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
        log.warn('keys that name no role are admin keys: name a role', {
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
