import { IPv4, IPv6 } from 'ipaddr.js';
import { parseAddress, unmapAddress, type ParsedAddress } from './parse-address';

/** An address and its prefix length in bits. */
export type Network = readonly [address: ParsedAddress, prefixBits: number];

/**
 * Parses an address or a CIDR range. Undefined for ranges with host bits, netmasks, zones, brackets, names and IPv4-mapped
 * IPv6, so that a range always ends where its text says.
 */
export function parseNetwork(text: string): Network | undefined {
  const [, bare = '', prefix] = /^([0-9a-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const address = parseAddress(bare);
  if (!address || (address instanceof IPv6 && address.isIPv4MappedAddress())) return undefined;
  const addressBits = address instanceof IPv4 ? 32 : 128;
  const prefixBits = prefix === undefined ? addressBits : Number(prefix);
  if (prefixBits > addressBits) return undefined;
  const cidr = `${bare}/${prefixBits}`;
  const first = address instanceof IPv4 ? IPv4.networkAddressFromCIDR(cidr) : IPv6.networkAddressFromCIDR(cidr);
  return first.toString() === address.toString() ? [address, prefixBits] : undefined;
}

/** Whether the text is an address within one of the networks. An IPv4-mapped address counts as IPv4. */
export function isInNetworks(text: string, networks: readonly Network[]): boolean {
  const parsed = parseAddress(text);
  const address = parsed && unmapAddress(parsed);
  return address !== undefined && networks.some((network) => isWithin(address, network));
}

function isWithin(address: ParsedAddress, [first, prefixBits]: Network): boolean {
  if (address instanceof IPv4) return first instanceof IPv4 && address.match(first, prefixBits);
  return first instanceof IPv6 && address.match(first, prefixBits);
}
