import type { Resolve } from '@svc/outbound';
import { startNameServer, type NameAnswer } from '@svc/testing';
import { Resolver } from 'node:dns';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchPolicy, type PolicyUrl } from './fetch-policy';
import { policyName } from './load-policy';

describe('a policy by URL', () => {
  let server: Server;
  let base: string;
  const asked: string[] = [];
  const source = (over: Partial<PolicyUrl> = {}): PolicyUrl => ({
    url: `${base}/policy`,
    allowlist: ['localhost'],
    allowPrivate: true,
    production: false,
    ...over,
  });
  const fetchFault = async (over: Partial<PolicyUrl>) => {
    const fetched = await fetchPolicy(source(over), 100);
    return fetched.ok ? fetched.bytes.toString() : fetched.fault;
  };

  beforeAll(async () => {
    server = createServer((req, res) => {
      asked.push(req.url ?? '');
      if (req.url === '/who') return void res.end(req.headers.authorization);
      if (req.url === '/moved') return void res.writeHead(302, { location: '/policy' }).end();
      res.end(req.url === '/large' ? 'x'.repeat(101) : 'version: "1"');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://localhost:${(server.address() as AddressInfo).port}`; // it listens on a port
  });
  beforeEach(() => void (asked.length = 0));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('is fetched from a host of the list', async () => {
    expect(await fetchFault({})).toBe('version: "1"');
  });

  it('does not contact a host that is not in the list or only resembles one', async () => {
    expect(await fetchFault({ allowlist: [] })).toContain('not in SAFETY_POLICY_URL_ALLOWLIST');
    expect(await fetchFault({ allowlist: ['ocalhost'] })).toContain('not in SAFETY_POLICY_URL_ALLOWLIST');
    expect(await fetchFault({ url: 'https://localhost.evil.example', allowlist: ['localhost'] })).toContain(
      'ALLOWLIST',
    );
    expect(asked).toEqual([]);
  });

  it.each([
    ...['localhost', '127.0.0.1', '0.0.0.0', '10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '224.0.0.1'],
    // The same, as only software writes them.
    ...['2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '127.1', '127.0.0.1.', '①②⑦.0.0.1', '0'],
    ...['[::1]', '[::]', '[::ffff:10.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[0:0:0:0:0:ffff:a9fe:a9fe]', '[fd00::1]'],
    ...['[fe80::1]', '[fec0::1]', '[ff02::1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::a00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
  ])('does not contact a private address (%s)', async (host) => {
    const port = base.split(':').at(-1);
    const url = `http://${host}:${port}/policy`;
    const allowlist = [new URL(url).hostname.replace(/[[\]]/g, '')];

    const fault = await fetchFault({ url, allowlist, allowPrivate: false });

    expect(fault).toContain('private address');
    expect(asked).toEqual([]);
  }); // prettier-ignore

  it('credentials of the URL are sent as a header and never in an error', async () => {
    const withUserinfo = (path: string) => base.replace('//', '//ann:s3cret%20word%@') + path;
    const basic = `Basic ${Buffer.from('ann:s3cret word%').toString('base64')}`;

    expect(await fetchFault({ url: withUserinfo('/who') })).toBe(basic);
    for (const over of [{ url: withUserinfo('/large') }, { url: withUserinfo('/'), allowPrivate: false }]) {
      expect(await fetchFault(over)).not.toContain('s3cret');
    }
    expect(policyName({ url: source({ url: withUserinfo('/who') }), path: '' })).toBe(`${base}/who`);
  });

  it('production requires https', async () => {
    expect(await fetchFault({ production: true })).toBe('must begin with https://');
  });

  it('redirects, large documents and timeouts are errors', async () => {
    expect(await fetchFault({ url: `${base}/moved` })).toBe('is answered 302, not 200');
    expect(await fetchFault({ url: `${base}/large` })).toContain('more than the 100 bytes');
    expect(await fetchFault({ url: 'http://localhost:1/x' })).toContain('cannot be fetched');
    expect(asked).toEqual(['/moved', '/large']);
  });

  describe('whose name resolves to', () => {
    const publicAddress = '203.0.113.10'; // reserved for documentation
    /** As production fetches it, but that its names are found by a name server which says what this test wants. */
    async function fetchBy(answer: (name: string, nth: number) => NameAnswer, times = 1) {
      const names = await startNameServer(answer);
      const resolver = new Resolver({ timeout: 2_000, tries: 1 });
      resolver.setServers([names.address]);
      const resolve: Resolve = (name, _options, callback) =>
        resolver.resolve4(name, (error, v4 = []) =>
          resolver.resolve6(name, (none, v6 = []) => {
            const found = [...v4.map((address) => ({ address, family: 4 })), ...v6.map((address) => ({ address, family: 6 }))]; // prettier-ignore
            callback(found.length > 0 ? null : (error ?? none), found);
          }),
        );
      const faults: string[] = [];
      const port = base.split(':').at(-1);
      const url = source({ url: `http://policy.example:${port}/policy`, allowlist: ['example'], allowPrivate: false });
      for (let i = 0; i < times; i++) {
        const fetched = await fetchPolicy(url, 100, { resolve, timeoutMs: 300 });
        faults.push(fetched.ok ? fetched.bytes.toString() : fetched.fault);
      }
      await names.close();
      return { faults, lookUps: names.asked.filter((question) => question.endsWith(' A')).length };
    }

    it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254', 'fd00::1'])('%s is not contacted', async (address) => {
      const { faults } = await fetchBy(() => [address]);

      expect(faults).toEqual([expect.stringContaining('private address')]);
      expect(asked).toEqual([]);
    }); // prettier-ignore

    it('is not contacted when it resolves to a public and a private address', async () => {
      const { faults } = await fetchBy(() => [publicAddress, '127.0.0.1']);

      expect(faults).toEqual([expect.stringContaining('private address 127.0.0.1')]);
      expect(asked).toEqual([]);
    });

    it('connects to the checked address, not to a later resolution (DNS rebinding)', async () => {
      const { faults, lookUps } = await fetchBy((_, nth) => [nth === 0 ? publicAddress : '127.0.0.1'], 2);

      // Once for each connection: it goes to the address that was checked, and to no other.
      expect(lookUps).toBe(2);
      expect(faults[0]).not.toContain('private address');
      expect(faults[1]).toContain('private address 127.0.0.1');
      expect(asked).toEqual([]);
    });

    it('a redirect is not followed, wherever it leads', async () => {
      const locations = ['http://127.0.0.1/policy', 'http://169.254.169.254/', '//[::1]/policy', '/policy'];
      const moved = createServer((req, res) => res.writeHead(307, { location: locations[Number(req.url?.slice(1))] }).end()); // prettier-ignore
      await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve));
      const { port } = moved.address() as AddressInfo; // it listens on a port

      for (const index of locations.keys()) {
        expect(await fetchFault({ url: `http://localhost:${port}/${index}` })).toBe('is answered 307, not 200');
      }
      expect(asked).toEqual([]);
      await new Promise((done) => moved.close(done));
    });
  });
});
