/** Kinds of addresses that are not the open internet. */
export type AddressClass = 'metadata' | 'loopback' | 'link_local' | 'private' | 'multicast' | 'reserved' | 'public';

/** Of clouds, also those outside the link-local network. */
const metadataAddresses = new Set(['169.254.169.254', '169.254.170.2', '169.254.170.23', '100.100.100.200', '168.63.129.16', '192.0.0.192']); // prettier-ignore

const ipv4Classes: readonly (readonly [network: string, bits: number, AddressClass])[] = [
  ['0.0.0.0', 8, 'loopback'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link_local'],
  ['10.0.0.0', 8, 'private'],
  ['172.16.0.0', 12, 'private'],
  ['192.168.0.0', 16, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['198.18.0.0', 15, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
];

/** What kind of address a literal is; undefined when it is none. `[::1]` may stand in brackets, as in URLs. */
export function addressClass(host: string): AddressClass | undefined {
  const bare = host.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const v4 = ipv4Number(bare);
  if (v4 !== undefined) return ofIpv4(bare, v4);
  const groups = bare.includes(':') ? ipv6Groups(bare) : undefined;
  return groups && ofIpv6(groups);
}

function ofIpv4(text: string, value: number): AddressClass {
  if (metadataAddresses.has(text)) return 'metadata';
  const within = ipv4Classes.find(([network, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(value / size) === Math.floor((ipv4Number(network) ?? 0) / size);
  });
  return within?.[2] ?? 'public';
}

function ofIpv6(groups: readonly number[]): AddressClass {
  const [first = 0, second = 0, , , , sixth = 0, seventh = 0, eighth = 0] = groups;
  const isZero = (from: number, to: number) => groups.slice(from, to).every((group) => group === 0);
  const embedded = `${seventh >> 8}.${seventh & 255}.${eighth >> 8}.${eighth & 255}`;
  if (isZero(0, 7) && eighth <= 1) return 'loopback';
  // IPv4 within IPv6: mapped, compatible, translated (64:ff9b::), and 6to4, whose second and third group hold it.
  const holdsIpv4 = (isZero(0, 5) && (sixth === 0xffff || sixth === 0)) || (first === 0x64 && second === 0xff9b);
  if (holdsIpv4) return addressClass(embedded) ?? 'reserved';
  if (first === 0x2002) {
    const third = groups[2] ?? 0;
    return addressClass(`${second >> 8}.${second & 255}.${third >> 8}.${third & 255}`) ?? 'reserved';
  }
  if (first === 0xfd00 && second === 0xec2 && eighth === 0x254) return 'metadata';
  if (first >> 6 === 0xfe80 >> 6) return 'link_local';
  if (first >> 6 === 0xfec0 >> 6 || first >> 9 === 0xfc00 >> 9) return 'private';
  return first >> 8 === 0xff ? 'multicast' : 'public';
}

function ipv4Number(text: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  if (!parts || parts.some((part) => part > 255)) return undefined;
  return parts.reduce((value, part) => value * 256 + part, 0);
}

function ipv6Groups(text: string): number[] | undefined {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const v4 = dotted ? ipv4Number(dotted[2] ?? '') : undefined;
  if (dotted && v4 === undefined) return undefined;
  const plain = dotted ? `${dotted[1]}${(Math.floor((v4 ?? 0) / 65_536)).toString(16)}:${((v4 ?? 0) % 65_536).toString(16)}` : text; // prettier-ignore
  const [head = '', tail, ...more] = plain.split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':')).map((group) => (/^[0-9a-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : NaN)); // prettier-ignore
  const [left, right] = [read(head), read(tail ?? '')];
  const missing = 8 - left.length - right.length;
  if (more.length > 0 || (tail === undefined ? missing !== 0 : missing < 1)) return undefined;
  const groups = [...left, ...Array<number>(Math.max(0, missing)).fill(0), ...right];
  return groups.some(Number.isNaN) ? undefined : groups;
}
