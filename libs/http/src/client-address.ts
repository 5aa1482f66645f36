import { isIP, isIPv4 } from 'node:net';
import proxyAddr from 'proxy-addr';

/** The client's address, from the peer of a connection and the `X-Forwarded-For` header that came over it. */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string;

/** Whether an address belongs to a trusted proxy. @param trustedProxies addresses and CIDR ranges */
export function proxyCheck(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const trusts = proxyAddr.compile([...trustedProxies]);
  return (address) => trusts(address, 0);
}

/**
 * Follows `X-Forwarded-For` from its end, as far as each hop is a trusted proxy: everything before the first other address is
 * the client's own word. An entry that is no address ends the chain too.
 */
export function clientAddressBehind(trustedProxies: readonly string[]): ClientAddress {
  const isProxy = proxyCheck(trustedProxies);
  return (peer, forwardedFor) => {
    let client = plainAddress(peer) ?? '';
    if (trustedProxies.length === 0 || !forwardedFor) return client;
    for (const hop of forwardedFor.split(',').reverse()) {
      const before = isProxy(client) ? plainAddress(hop) : undefined;
      if (before === undefined) break;
      client = before;
    }
    return client;
  };
}

/**
 * The address that counters use. Whoever has one IPv6 address usually has its /64, so those count as one; an IPv4 address
 * written as IPv6 counts as what it is.
 */
export function addressBucket(address: string): string {
  const plain = plainAddress(address);
  if (plain === undefined || isIPv4(plain)) return plain ?? address;
  const [head = '', tail] = canonical(plain).split('::');
  const groups = head ? head.split(':') : [];
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail ? tail.split(':').length : 0);
  const network = [...groups, ...Array<string>(missing).fill('0'), ...(tail ? tail.split(':') : [])].slice(0, 4);
  return `${network.join(':')}::/64`;
}

/** An address without port, brackets and zone, IPv4 as such; undefined for anything else. */
function plainAddress(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  const [address = ''] = bare.split('%', 1);
  const version = isIP(address);
  if (version !== 6) return version === 4 ? address : undefined;
  if (!/ffff:/i.test(address)) return address;
  const mapped = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(canonical(address));
  if (!mapped) return address;
  const [high = 0, low = 0] = mapped.slice(1).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** In lower case, zeros shortened, no dotted part. */
const canonical = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);
