import { classifyAddress, ipv6Prefix64, isInNetworks, normalizeAddress, parseNetwork, type Network } from './index';

describe('classifyAddress', () => {
  it.each([
    ...[['93.184.216.34', 'public'], ['2606:4700::1111', 'public'], ['203.0.113.10', 'public'], ['2001:db8::1', 'public']],
    ...[['127.0.0.1', 'loopback'], ['127.255.0.1', 'loopback'], ['0.0.0.0', 'loopback'], ['::', 'loopback'], ['::1', 'loopback']],
    ...[['10.0.0.1', 'private'], ['172.31.255.255', 'private'], ['172.32.0.0', 'public'], ['192.168.1.1', 'private']],
    ...[['100.64.0.1', 'private'], ['100.127.255.255', 'private'], ['100.128.0.0', 'public']],
    ...[['fd00::1', 'private'], ['fc00::1', 'private'], ['fec0::1', 'private']],
    ...[['169.254.0.1', 'link_local'], ['fe80::1', 'link_local'], ['fe80::1%eth0', 'link_local'], ['[fe80::1]', 'link_local']],
    ...[['169.254.169.254', 'metadata'], ['100.100.100.200', 'metadata'], ['168.63.129.16', 'metadata'], ['fd00:ec2::254', 'metadata']],
    ...[['::ffff:169.254.169.254', 'metadata'], ['::ffff:a9fe:a9fe', 'metadata'], ['::ffff:127.0.0.1', 'loopback']],
    ...[['::ffff:93.184.216.34', 'public'], ['::10.0.0.1', 'private'], ['::ffff:0:10.0.0.1', 'private']],
    ...[['64:ff9b::10.0.0.1', 'private'], ['64:ff9b::5db8:d822', 'public'], ['64:ff9b:1::5db8:d822', 'reserved']],
    ...[['2002:a00:1::', 'private'], ['2002:a9fe:a9fe::', 'metadata'], ['2001:0:7f00:1::', 'reserved'], ['100::1', 'reserved']],
    ...[['224.0.0.1', 'multicast'], ['ff02::1', 'multicast'], ['255.255.255.255', 'reserved'], ['240.0.0.1', 'reserved']],
    ...[['198.18.0.1', 'reserved'], ['192.0.0.1', 'reserved'], ['192.0.0.192', 'metadata'], ['4000::1', 'reserved']],
  ])('%s is %s', (address, expected) => {
    expect(classifyAddress(address)).toBe(expected);
  }); // prettier-ignore

  it.each(['', 'localhost', '127.1', '2130706433', '0x7f.0.0.1', '0177.0.0.1', '1.2.3.4.5', '256.0.0.1', '1::2::3', '10.0.0.0/8'])(
    '%p is not an address',
    (text) => expect(classifyAddress(text)).toBeUndefined(),
  ); // prettier-ignore
});

describe('networks', () => {
  const read = (...texts: string[]) =>
    texts.map((text) => parseNetwork(text)).filter((found): found is Network => !!found);

  it('contain addresses of their own family, and IPv4-mapped addresses as IPv4', () => {
    const networks = read('10.1.2.0/24', '192.0.2.7', 'fd00::/8', '::1');

    for (const inside of ['10.1.2.255', '::ffff:10.1.2.3', '192.0.2.7', 'fd12::1', '::1']) {
      expect([inside, isInNetworks(inside, networks)]).toEqual([inside, true]);
    }
    for (const outside of ['10.1.3.0', '192.0.2.8', 'fe00::1', '::2', 'localhost', '']) {
      expect([outside, isInNetworks(outside, networks)]).toEqual([outside, false]);
    }
  });

  it.each(['10.1.2.3/24', '10.0.0.0/33', '10.0.0.0/08', '10.0.0.0/', '10.0.0.0/255.0.0.0', '2001:db8::1/32', '::/129', '::ffff:0:0/96', '::ffff:10.0.0.1', 'fe80::1%eth0', '[::1]', '10.1', 'host', '*', ''])(
    '%p is not a network',
    (text) => expect(parseNetwork(text)).toBeUndefined(),
  ); // prettier-ignore
});

it('normalizes addresses', () => {
  expect(normalizeAddress('[2001:0DB8:0::0009]')).toBe('2001:db8::9');
  expect(normalizeAddress('::ffff:c000:201')).toBe('192.0.2.1');
  expect(normalizeAddress('fe80::1%eth0')).toBe('fe80::1');
  expect(normalizeAddress('unknown')).toBeUndefined();
  expect(ipv6Prefix64('2001:db8::9')).toBe('2001:db8:0:0::/64');
  expect(ipv6Prefix64('192.0.2.1')).toBeUndefined();
});
