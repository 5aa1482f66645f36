import { formatAddress, isLoopback, type Address } from '../address';
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

/** Development rules trust this machine: they accept plaintext, weak secrets and header principals. */
export function envFindings<T extends Variables>(
  spec: Pick<EnvSpec<T>, 'variables'>,
  values: Readonly<Partial<Record<keyof T, unknown>>> & { readonly production: boolean },
): EnvFinding[] {
  const addresses = values.production ? [] : exposedListeners(spec, values);
  if (addresses.length === 0) return [];
  const what = `development rules are in effect on addresses that other machines can reach: ${addresses.join(', ')}`;
  return [{ finding: 'development_exposed', what, mend: 'Set SVC_ENV=production, or listen on 127.0.0.1.' }];
}
