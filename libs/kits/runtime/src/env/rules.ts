import { parseNetwork } from '@svc/address';
import { formatAddress, isLoopback, type Address } from '../address';
import { findWeakness } from './secret-strength';
import type { Problem } from './problem';

/** A certificate and its key must be set together. */
export function pair(certName: string, cert: string | undefined, keyName: string, key: string | undefined): Problem[] {
  if ((cert === undefined) === (key === undefined)) return [];
  const [missing, given] = cert === undefined ? [certName, keyName] : [keyName, certName];
  return [{ name: missing, expected: `a path, because ${given} is set`, fix: `Set both, or unset ${given}.` }];
}

/** A switch that production rejects: every `*_INSECURE`, access without credentials, reflection. */
export function refusedInProduction(production: boolean, name: string, on: boolean, why: string): Problem[] {
  return production && on ? [{ name, given: 'true', expected: 'false in production', fix: `Unset it: ${why}.` }] : [];
}

/** The URL of NATS or Redis must use TLS in production. */
export function encrypted(
  production: boolean,
  name: string,
  url: string,
  scheme: 'tls' | 'rediss',
  exception = '',
): Problem[] {
  if (!production || url.startsWith(`${scheme}://`)) return [];
  const given = `a ${url.slice(0, url.indexOf(':'))}:// URL`;
  return [{ name, given, expected: `${scheme}:// in production`, fix: `Set a ${scheme}:// URL${exception}.` }];
}

/** Production serves metrics on loopback only, unless they are made public. */
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
      fix: `Listen on 127.0.0.1, or set ${openName}=true.`,
    },
  ];
}

/** Production rejects weak secrets. */
export function strong(
  { production, skipSecretValidation }: { production: boolean; skipSecretValidation: boolean },
  name: string,
  secret: string | undefined,
  minLength: number,
): Problem[] {
  const weakness = secret && production && !skipSecretValidation ? findWeakness(secret, minLength) : undefined;
  if (!weakness) return [];
  return [
    {
      name,
      given: 'too weak',
      expected: weakness,
      fix: 'Generate one, for example with `openssl rand -base64 36`, or accept it with SVC_SKIP_SECRET_VALIDATION=true.',
    },
  ];
}

/**
 * Exact addresses and CIDR ranges: no host bits, no names, no IPv4-mapped IPv6. A range of all addresses is rejected, since
 * every client could then forge its own address.
 */
export function cidrRanges(name: string, ranges: readonly string[]): Problem[] {
  const wrong = ranges.find((range) => (parseNetwork(range)?.[1] ?? 0) === 0);
  if (wrong === undefined) return [];
  return [
    {
      name,
      given: JSON.stringify(wrong),
      expected: 'addresses or CIDR ranges without host bits, none of them /0',
      fix: 'Set the addresses of the proxies, such as 10.1.2.3 or 10.1.2.0/24.',
    },
  ];
}

/** A variable that another setting requires. */
export function needed(when: boolean, name: string, value: string | undefined, because: string): Problem[] {
  return when && value === undefined ? [{ name, expected: `a value, because ${because}`, fix: 'Set it.' }] : [];
}
