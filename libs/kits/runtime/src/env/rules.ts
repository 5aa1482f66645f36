import { parseNetwork } from '@svc/address';
import { formatAddress, isLoopback, type Address } from '../address';
import { weaknessOf } from './secret-strength';
import type { Problem } from './problem';

/** A certificate and its key come together or the start fails. */
export function pair(certName: string, cert: string | undefined, keyName: string, key: string | undefined): Problem[] {
  if ((cert === undefined) === (key === undefined)) return [];
  const [missing, given] = cert === undefined ? [certName, keyName] : [keyName, certName];
  return [{ name: missing, expected: `a path, because ${given} is set`, mend: `Set both, or unset ${given}.` }];
}

/** A switch that production refuses: every `*_INSECURE`, access without credentials, reflection. */
export function refusedInProduction(production: boolean, name: string, on: boolean, why: string): Problem[] {
  return production && on ? [{ name, given: 'true', expected: 'false in production', mend: `Unset it: ${why}.` }] : [];
}

/** The URL of the bus or the store must be encrypted in production. */
export function encrypted(
  production: boolean,
  name: string,
  url: string,
  scheme: 'tls' | 'rediss',
  exception = '',
): Problem[] {
  if (!production || url.startsWith(`${scheme}://`)) return [];
  const given = `a ${url.slice(0, url.indexOf(':'))}:// URL`;
  return [{ name, given, expected: `${scheme}:// in production`, mend: `Give it a ${scheme}:// URL${exception}.` }];
}

/** Metrics stay on this machine in production unless they were made public. */
export function metricsPrivate(
  production: boolean,
  name: string,
  address: Address,
  openName: string,
  open: boolean,
): Problem[] {
  if (!production || open || address.host === '' || isLoopback(address.host)) return [];
  return [
    {
      name,
      given: formatAddress(address),
      expected: 'a loopback address in production',
      mend: `Listen on 127.0.0.1, or set ${openName}=true.`,
    },
  ];
}

/** Secrets that could be guessed are refused in production. */
export function strong(
  { production, skipSecretValidation }: { production: boolean; skipSecretValidation: boolean },
  name: string,
  secret: string | undefined,
  minLength: number,
): Problem[] {
  const weakness = secret && production && !skipSecretValidation ? weaknessOf(secret, minLength) : undefined;
  if (!weakness) return [];
  return [
    {
      name,
      given: 'too weak',
      expected: weakness,
      mend: 'Generate one, for example with `openssl rand -base64 36`, or accept it with SVC_SKIP_SECRET_VALIDATION=true.',
    },
  ];
}

/**
 * Addresses and CIDR ranges that end where they say: no host bits, no names, no IPv4 in IPv6 form. A range of all addresses is
 * refused, as it would let every client write its own address.
 */
export function cidrRanges(name: string, ranges: readonly string[]): Problem[] {
  const wrong = ranges.find((range) => (parseNetwork(range)?.[1] ?? 0) === 0);
  if (wrong === undefined) return [];
  return [
    {
      name,
      given: JSON.stringify(wrong),
      expected: 'addresses or CIDR ranges without host bits, none of them /0',
      mend: 'Name the addresses of the proxies, such as 10.1.2.3 or 10.1.2.0/24.',
    },
  ];
}

/** A variable that another setting makes necessary. */
export function needed(when: boolean, name: string, value: string | undefined, because: string): Problem[] {
  return when && value === undefined ? [{ name, expected: `a value, because ${because}`, mend: 'Set it.' }] : [];
}
