import { IPv4, IPv6 } from 'ipaddr.js';

export type ParsedAddress = IPv4 | IPv6;

/**
 * Parses the text form of one address: IPv4 in four decimal parts, or IPv6 with or without brackets and zone. The spellings
 * that only a URL parser turns into addresses (`127.1`, `0x7f000001`, `2130706433`) are host names here, and undefined.
 */
export function parseAddress(text: string): ParsedAddress | undefined {
  const [bare = ''] = text.replace(/^\[(.*)\]$/, '$1').split('%', 1);
  if (IPv4.isValidFourPartDecimal(bare)) return IPv4.parse(bare);
  return bare.includes(':') && IPv6.isValid(bare) ? IPv6.parse(bare) : undefined;
}

/** The address that an IPv4-mapped IPv6 address denotes; any other address unchanged. */
export const unmapAddress = (address: ParsedAddress): ParsedAddress =>
  address instanceof IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;

/** The canonical text of an address: no brackets or zone, RFC 5952, IPv4-mapped as IPv4. Undefined for other text. */
export function normalizeAddress(text: string): string | undefined {
  const address = parseAddress(text);
  return address && unmapAddress(address).toString();
}

/** The first 64 bits of an IPv6 address as `a:b:c:d::/64`; undefined for IPv4, IPv4-mapped addresses and other text. */
export function ipv6Prefix64(text: string): string | undefined {
  const parsed = parseAddress(text);
  const address = parsed && unmapAddress(parsed);
  if (!(address instanceof IPv6)) return undefined;
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}
