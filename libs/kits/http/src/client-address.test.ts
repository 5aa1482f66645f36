import { addressBucket, clientAddressBehind } from './client-address';

describe('the address of a client', () => {
  it.each([
    ['nothing trusted', [], '10.0.0.1', '1.1.1.1', '10.0.0.1'],
    ['a peer that is not a proxy', ['10.0.0.0/8'], '8.8.8.8', '1.1.1.1', '8.8.8.8'],
    ['one proxy', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1', '1.1.1.1'],
    ['a forged entry', ['10.0.0.0/8'], '10.0.0.1', '9.9.9.9, 1.1.1.1', '1.1.1.1'],
    ['a forged proxy address', ['10.0.0.0/8'], '10.0.0.1', '10.9.9.9, 1.1.1.1', '1.1.1.1'],
    ['two proxies', ['10.0.0.1', '192.0.2.7'], '10.0.0.1', '1.1.1.1, 192.0.2.7', '1.1.1.1'],
    ['proxies only', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    ['an entry that is not an address', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, unknown', '10.0.0.1'],
    ['no header', ['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
    ['an entry with a port', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1:5555', '1.1.1.1'],
    ['an IPv6 entry with a port', ['10.0.0.0/8'], '10.0.0.1', '[2001:db8::1]:5555', '2001:db8::1'],
    ['a peer in IPv4-mapped form', ['10.0.0.0/8'], '::ffff:10.0.0.1', '1.1.1.1', '1.1.1.1'],
    ['an IPv6 proxy', ['fd00::/8'], 'fd00::7', '2001:db8::1', '2001:db8::1'],
  ])('%s', (_what, trusted, peer, header, client) => {
    expect(clientAddressBehind(trusted)(peer, header)).toBe(client);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['', ''],
  ])('%s is counted as %s', (address, bucket) => {
    expect(addressBucket(address)).toBe(bucket);
  });
});
