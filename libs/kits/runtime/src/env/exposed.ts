import { formatAddress, isLoopback, type Address } from '../address';
import type { commonVariables } from './common';
import type { EnvSpec, Variables } from './declare';

/**
 * Listeners that other machines can reach, as `NAME=address`.
 *
 * @param values the result of `readEnv` for the table
 */
export function exposedListeners<T extends Variables>(
  { variables }: Pick<EnvSpec<T>, 'variables'>,
  values: Readonly<Partial<Record<keyof T, unknown>>>,
): string[] {
  return Object.entries(variables).flatMap(([key, variable]) => {
    if (variable.type !== 'address' || !variable.listens) return [];
    const address = values[key] as Address | undefined;
    return address && !isLoopback(address.host) ? [`${variable.name}=${formatAddress(address)}`] : [];
  });
}

/** A warning about an accepted environment, for the log and the status endpoint. */
export interface EnvFinding {
  finding: string;
  what: string;
  fix: string;
}

/**
 * Development rules accept plaintext, weak secrets and header principals, which is safe on loopback only. Production
 * starts without credentials for NATS and Redis, since a private network may be enough; a finding reports it.
 */
export function envFindings<T extends Variables>(
  spec: Pick<EnvSpec<T>, 'service' | 'variables'>,
  values: Readonly<Partial<Record<keyof T, unknown>>> & { readonly production: boolean },
): EnvFinding[] {
  if (values.production) return anonymousConnections(spec.service, values);
  const addresses = exposedListeners(spec, values);
  if (addresses.length === 0) return [];
  const what = `development rules are in effect on addresses that other machines can reach: ${addresses.join(', ')}`;
  return [{ finding: 'development_exposed', what, fix: 'Set SVC_ENV=production, or listen on 127.0.0.1.' }];
}

/** A connection without credentials has every permission that the server grants to anonymous clients. */
function anonymousConnections(service: string, values: Readonly<Record<string, unknown>>): EnvFinding[] {
  const has = (...keys: (keyof typeof commonVariables)[]) => keys.some((key) => values[key] !== undefined);
  const urls = (key: 'natsUrl' | 'redisUrl') =>
    String(values[key] ?? '').split(',').flatMap((url) => (URL.canParse(url) ? [new URL(url)] : [])); // prettier-ignore
  const toNats =
    has('natsUsername', 'natsToken', 'natsNkey', 'natsTlsCert') || urls('natsUrl').some(({ username }) => username);
  const toRedis = has('redisPassword', 'redisTlsCert') || urls('redisUrl').some(({ password }) => password);
  const buildRepair = (variables: string) =>
    `Set ${variables}, and give each worker pool its own credentials. See docs/security/trust.md.`;
  const what = (store: string) =>
    `the connection to ${store} has no credentials, so every process that can reach it has the permissions of the services`;
  return [
    // The kernel does not connect to NATS.
    ...(toNats || service === 'kernel'
      ? []
      : [
          {
            finding: 'nats_anonymous',
            what: what('NATS'),
            fix: buildRepair('NATS_USERNAME and NATS_PASSWORD, or NATS_NKEY'),
          },
        ]),
    ...(toRedis
      ? []
      : [{ finding: 'redis_anonymous', what: what('Redis'), fix: buildRepair('user and password in REDIS_URL') }]),
  ];
}
