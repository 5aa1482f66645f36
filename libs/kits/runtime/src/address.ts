import { isIP } from 'node:net';

/** Where to listen or dial. An empty host means every interface. */
export interface Address {
  host: string;
  port: number;
}

/** Description of the address format, for messages to operators. */
export const addressForm = 'host:port or :port, for example 127.0.0.1:8081, [::1]:8081 or :8081';

/** Reads `host:port`, `[v6]:port` or `:port`; undefined when the text is none of them. */
export function parseAddress(text: string): Address | undefined {
  const [, v6, name, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) return undefined;
  if (v6 !== undefined && isIP(v6) !== 6) return undefined;
  return { host: v6 ?? name ?? '', port };
}

/** Writes an address the way `parseAddress` reads it. */
export const formatAddress = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Whether only this machine can reach the host. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/**
 * Where a metrics listener binds: in production it stays on this machine unless it was made
 * public, since metrics expose internals.
 */
export function metricsBinding(
  address: Address,
  { production, open }: { production: boolean; open: boolean },
): Address {
  return production && !open && address.host === '' ? { host: '127.0.0.1', port: address.port } : address;
}
