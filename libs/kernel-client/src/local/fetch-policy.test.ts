import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchPolicy, type PolicyUrl } from './fetch-policy';

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
  const faultOf = async (over: Partial<PolicyUrl>) => {
    const fetched = await fetchPolicy(source(over), 100);
    return fetched.ok ? fetched.bytes.toString() : fetched.fault;
  };

  beforeAll(async () => {
    server = createServer((req, res) => {
      asked.push(req.url ?? '');
      if (req.url === '/moved') return void res.writeHead(302, { location: '/policy' }).end();
      res.end(req.url === '/large' ? 'x'.repeat(101) : 'version: "1"');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://localhost:${(server.address() as AddressInfo).port}`; // it listens on a port
  });
  beforeEach(() => void (asked.length = 0));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('is fetched from a host of the list', async () => {
    expect(await faultOf({})).toBe('version: "1"');
  });

  it('a host that is not in the list, or only looks like it, is not asked', async () => {
    expect(await faultOf({ allowlist: [] })).toContain('not in SAFETY_POLICY_URL_ALLOWLIST');
    expect(await faultOf({ allowlist: ['ocalhost'] })).toContain('not in SAFETY_POLICY_URL_ALLOWLIST');
    expect(await faultOf({ url: 'https://localhost.evil.example', allowlist: ['localhost'] })).toContain('ALLOWLIST');
    expect(asked).toEqual([]);
  });

  it.each(['localhost', '127.0.0.1', '10.1.2.3', '169.254.169.254', '[::1]', '[::ffff:10.0.0.1]', '[fd00::1]'])(
    'a private address (%s) is not asked',
    async (host) => {
      const port = base.split(':').at(-1);
      const allowlist = [host.replace(/[[\]]/g, ''), '::ffff:a00:1'];

      const fault = await faultOf({ url: `http://${host}:${port}/policy`, allowlist, allowPrivate: false });

      expect(fault).toContain('private address');
      expect(asked).toEqual([]);
    },
  );

  it('production wants https', async () => {
    expect(await faultOf({ production: true })).toBe('must begin with https://');
  });

  it('redirects, large documents and silence are faults', async () => {
    expect(await faultOf({ url: `${base}/moved` })).toBe('is answered 302, not 200');
    expect(await faultOf({ url: `${base}/large` })).toContain('more than the 100 bytes');
    expect(await faultOf({ url: 'http://localhost:1/x' })).toContain('cannot be fetched');
    expect(asked).toEqual(['/moved', '/large']);
  });
});
