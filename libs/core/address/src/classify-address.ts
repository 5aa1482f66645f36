import { IPv4, IPv6 } from 'ipaddr.js';
import { isInNetworks, parseNetwork, type Network } from './networks';
import { parseAddress, type ParsedAddress } from './parse-address';

/** Kinds of addresses. Only `public` addresses are on the open internet. */
export type AddressClass = 'metadata' | 'loopback' | 'link_local' | 'private' | 'multicast' | 'reserved' | 'public';

/** Metadata services of clouds, also those outside the link-local network. */
const metadataNetworks = networks(
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ...['fd00:ec2::254', 'fd20:ce::254'],
);

/** Never routed, so they reach no host. They count as public because examples and tests use them for public addresses. */
const documentationNetworks = networks('192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32');

/** The only part of IPv6 that IANA has allocated for global unicast. */
const globalUnicast = networks('2000::/3');

/** IPv4-compatible IPv6, `::a.b.c.d`. */
const ipv4Compatible = networks('::/96');

/** Addresses that network-specific translators map to any IPv4 address, RFC 8215. */
const localTranslation = networks('64:ff9b:1::/48');

/** Every range of ipaddr.js that is not listed here is `reserved`. */
const classes: Readonly<Partial<Record<string, AddressClass>>> = {
  unspecified: 'loopback',
  loopback: 'loopback',
  linkLocal: 'link_local',
  private: 'private',
  carrierGradeNat: 'private',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'private',
  multicast: 'multicast',
  unicast: 'public',
};

/** First byte of the IPv4 address within the IPv6 addresses of a range. */
const embeddedIpv4At: Readonly<Partial<Record<string, number>>> = {
  ipv4Mapped: 12,
  rfc6145: 12,
  rfc6052: 12,
  '6to4': 2,
};

/**
 * Classifies an address for checks of outbound targets. IPv6 addresses that embed an IPv4 address (mapped, compatible,
 * translated, 6to4) have the class of that address.
 *
 * @param text an address; IPv6 may have brackets and a zone
 * @returns undefined when the text is not an address
 */
export function classifyAddress(text: string): AddressClass | undefined {
  const address = parseAddress(text);
  return address && classify(address);
}

function classify(address: ParsedAddress): AddressClass {
  const text = address.toString();
  if (isInNetworks(text, metadataNetworks)) return 'metadata';
  if (isInNetworks(text, documentationNetworks)) return 'public';
  const range = address.range();
  if (address instanceof IPv4) return classes[range] ?? 'reserved';
  const embedded = embeddedIpv4(address, range);
  if (embedded) return classify(embedded);
  return range === 'unicast' && !isInNetworks(text, globalUnicast) ? 'reserved' : (classes[range] ?? 'reserved');
}

function embeddedIpv4(address: IPv6, range: string): IPv4 | undefined {
  const isCompatible = range === 'unicast' && isInNetworks(address.toString(), ipv4Compatible);
  const at = isCompatible ? 12 : embeddedIpv4At[range];
  if (at === undefined || isInNetworks(address.toString(), localTranslation)) return undefined;
  return new IPv4(address.toByteArray().slice(at, at + 4));
}

function networks(...texts: string[]): Network[] {
  return texts.flatMap((text) => {
    const network = parseNetwork(text);
    if (!network) throw new Error(`${text} is not a network`);
    return [network];
  });
}
