import { formatAddress, isLoopback, type Address } from '../address';
import type { commonVariables } from './common';
import type { EnvSpec, Variables } from './declare';

/**
 * Listeners that other machines can reach, as `NAME=address`.
 *
 * @param values what `readEnv` made of the table
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

/** What is wrong with an environment that works, for the log and the status. */
export interface EnvFinding {
  finding: string;
  what: string;
  mend: string;
}

/**
 * Development rules trust this machine: they accept plaintext, weak secrets and header principals. Production starts
 * without credentials for NATS and Redis, since a network that only they can reach may be enough; the findings say so.
 */
export function envFindings<T extends Variables>(
  spec: Pick<EnvSpec<T>, 'service' | 'variables'>,
  values: Readonly<Partial<Record<keyof T, unknown>>> & { readonly production: boolean },
): EnvFinding[] {
  if (values.production) return anonymousConnections(spec.service, values);
  const addresses = exposedListeners(spec, values);
  if (addresses.length === 0) return [];
  const what = `development rules are in effect on addresses that other machines can reach: ${addresses.join(', ')}`;
  return [{ finding: 'development_exposed', what, mend: 'Set SVC_ENV=production, or listen on 127.0.0.1.' }];
}

/** A connection without an identity can do everything, as far as the server accepts it. */
function anonymousConnections(service: string, values: Readonly<Record<string, unknown>>): EnvFinding[] {
  const has = (...keys: (keyof typeof commonVariables)[]) => keys.some((key) => values[key] !== undefined);
  const urls = (key: 'natsUrl' | 'redisUrl') =>
    String(values[key] ?? '').split(',').flatMap((url) => (URL.canParse(url) ? [new URL(url)] : [])); // prettier-ignore
  const toNats =
    has('natsUsername', 'natsToken', 'natsNkey', 'natsTlsCert') || urls('natsUrl').some(({ username }) => username);
  const toRedis = has('redisPassword', 'redisTlsCert') || urls('redisUrl').some(({ password }) => password);
  const mend = (variables: string) =>
    `Set ${variables}, and give each pool of workers its own: docs/security/trust.md.`;
  const what = (store: string) =>
    `the connection to ${store} has no credentials, so every process that reaches it can do what the services can`;
  return [
    // The kernel does not connect to NATS.
    ...(toNats || service === 'kernel'
      ? []
      : [
          {
            finding: 'nats_anonymous',
            what: what('NATS'),
            mend: mend('NATS_USERNAME and NATS_PASSWORD, or NATS_NKEY'),
          },
        ]),
    ...(toRedis
      ? []
      : [{ finding: 'redis_anonymous', what: what('Redis'), mend: mend('user and password in REDIS_URL') }]),
  ];
}
