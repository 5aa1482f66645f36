import { ipv6Prefix64, normalizeAddress } from '@svc/address';
import proxyAddr from 'proxy-addr';

/** The client's address, from the peer address of a connection and its `X-Forwarded-For` header. */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string;

/** Whether an address belongs to a trusted proxy. @param trustedProxies addresses and CIDR ranges */
export function proxyCheck(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const trusts = proxyAddr.compile([...trustedProxies]);
  return (address) => trusts(address, 0);
}

/**
 * Follows `X-Forwarded-For` from its end while each hop is a trusted proxy; earlier entries can be forged by the client. An
 * entry that is not an address ends the chain too.
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
 * The address that counters use. A client with one IPv6 address usually has its /64, so a /64 counts as one; an
 * IPv4-mapped address counts as IPv4.
 */
export function addressBucket(address: string): string {
  const plain = plainAddress(address) ?? address;
  return ipv6Prefix64(plain) ?? plain;
}

/** The canonical address in a hop of the header or a peer, without port; undefined for anything else. */
function plainAddress(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  const bare = /^(\[[^\]]*\])(?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  return normalizeAddress(bare);
}
