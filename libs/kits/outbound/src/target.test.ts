import { createOutboundClient } from './client';
import { OutboundError } from './outbound-error';
import { getOutcome, scriptedResolve, startHttp, type LoopbackServer } from './outbound.testing';

/** In a documentation network: classified as public and never routed. */
const publicAddress = '203.0.113.10';

describe('targets', () => {
  let server: LoopbackServer;
  beforeAll(async () => {
    server = await startHttp((_req, res) => res.end('reached'));
  });
  afterAll(() => server.close());

  const local = (host: string) => `http://${host}:${server.port}/`;

  it.each([
    ...['127.0.0.1', '127.1', '2130706433', '0177.0.0.1', '017700000001', '0x7f.1', '0x7f000001', '127.0.0.1.', '①②⑦.0.0.1'],
    ...['0', '0.0.0.0', '10.1.2.3', '172.16.0.1', '192.168.0.1', '100.64.0.1', '169.254.169.254', '168.63.129.16'],
    ...['224.0.0.1', '255.255.255.255', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
    ...['[fd00::1]', '[fe80::1]', '[ff02::1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
  ])('%s is refused without a connection', async (host) => {
    const before = server.connections();

    expect(await getOutcome(createOutboundClient().request(local(host)))).toBe('address_refused');
    expect(server.connections()).toBe(before);
  }); // prettier-ignore

  it.each(['localhost', 'localhost.', 'LOCALHOST'])(
    'the name %s is refused by the address it resolves to',
    async (host) => {
      const before = server.connections();
      const loopback = scriptedResolve({ localhost: [['127.0.0.1']], 'localhost.': [['127.0.0.1']] });

      expect(await getOutcome(createOutboundClient(loopback).request(local(host)))).toBe('address_refused');
      expect(await getOutcome(createOutboundClient().request(local('localhost')))).toBe('address_refused');
      expect(server.connections()).toBe(before);
    },
  );

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254', 'fd00::1', 'fe80::1%eth0'])(
    'a name that resolves to %s is refused, even if it also has a public address',
    async (address) => {
      const before = server.connections();
      for (const addresses of [[address], [publicAddress, address]]) {
        const { resolve } = scriptedResolve({ 'a.example': [addresses] });
        const failure = await createOutboundClient({ resolve }).request(local('a.example')).catch((error: unknown) => error); // prettier-ignore

        expect(failure).toMatchObject({ reason: 'address_refused', address });
        expect(String(failure)).not.toContain(address);
      }
      expect(server.connections()).toBe(before);
    },
  );

  it('a name that is public when it is first resolved and loopback the next time (rebinding) is refused', async () => {
    const before = server.connections();
    const names = scriptedResolve({ 'a.example': [[publicAddress], ['127.0.0.1']] });
    const client = createOutboundClient({ ...names, connectTimeoutMs: 200 });

    // Nothing listens at the public address. The only lookup is that of the connection, so no second one can differ.
    expect(await getOutcome(client.request(local('a.example')))).toMatch(/^connect_(timeout|failed)$/);
    expect(names.lookups).toHaveLength(1);
    expect(await getOutcome(client.request(local('a.example')))).toBe('address_refused');
    expect(names.lookups).toHaveLength(2);
    expect(server.connections()).toBe(before);
  });

  it('an allowed network permits its addresses and no others', async () => {
    const { resolve } = scriptedResolve({ 'a.example': [['127.0.0.1']], 'b.example': [['127.0.0.1', '10.0.0.1']] });
    const client = createOutboundClient({ allow: ['127.0.0.0/8'], resolve });

    expect(await getOutcome(client.request(local('127.0.0.1')))).toBe(200);
    expect(await getOutcome(client.request(local('2130706433')))).toBe(200);
    expect(await getOutcome(client.request(local('a.example')))).toBe(200);
    expect(await getOutcome(client.request(local('b.example')))).toBe('address_refused');
    expect(await getOutcome(client.request(local('[::1]')))).toBe('address_refused');
  });

  it('an allowed host name permits private addresses of that name only, and no metadata service', async () => {
    const { resolve } = scriptedResolve({
      'a.example': [['127.0.0.1'], ['169.254.169.254'], ['fe80::1']],
      'sub.a.example': [['127.0.0.1']],
      'a.example.': [['127.0.0.1']],
    });
    const client = createOutboundClient({ allow: ['A.example'], resolve });

    expect(await getOutcome(client.request(local('a.example')))).toBe(200);
    expect(await getOutcome(client.request(local('a.example')))).toBe('address_refused');
    expect(await getOutcome(client.request(local('a.example')))).toBe('address_refused');
    expect(await getOutcome(client.request(local('a.example.')))).toBe(200);
    expect(await getOutcome(client.request(local('sub.a.example')))).toBe('address_refused');
    expect(await getOutcome(client.request(local('127.0.0.1')))).toBe('address_refused');
  });

  it.each(['10.0.0.1/8', '10.0.0.0/33', '::ffff:10.0.0.0/104', 'https://a.example', '*', '*.example', '', '127.1'])(
    'the entry %p of the allow list is an error when the client is created',
    (entry) => expect(() => createOutboundClient({ allow: [entry] })).toThrow('is not an address'),
  );

  it('with a list of hosts, only these and their subdomains are requested', async () => {
    const { resolve, lookups } = scriptedResolve({ 'api.a.example': [['127.0.0.1']] });
    const client = createOutboundClient({ onlyHosts: ['a.example'], allow: ['127.0.0.1'], resolve });

    expect(await getOutcome(client.request(local('api.a.example')))).toBe(200);
    for (const host of ['nota.example', 'a.example.evil.test', '127.0.0.1', 'example']) {
      expect(await getOutcome(client.request(local(host)))).toBe('host_refused');
    }
    expect(lookups).toEqual(['api.a.example']);
  });

  it.each(['file:///etc/passwd', 'data:text/plain,hello', 'ftp://example.com/', 'gopher://127.0.0.1/', 'ws://a.example/', 'javascript:1', 'blob:x', 'unix:/run/docker.sock'])(
    'the scheme of %s is refused',
    async (url) => expect(await getOutcome(createOutboundClient().request(url))).toBe('scheme_refused'),
  ); // prettier-ignore

  it('http is refused where only https is permitted', async () => {
    expect(await getOutcome(createOutboundClient({ httpsOnly: true }).request('http://a.example/'))).toBe(
      'scheme_refused',
    );
  });

  it.each(['', 'example.com', '//example.com', 'http://', 'http://a b/', 'http://[::1', `http://a.example/${'x'.repeat(9_000)}`])(
    'text that is not a URL is refused: %p',
    async (text) => expect(await getOutcome(createOutboundClient().request(text))).toBe('invalid_url'),
  ); // prettier-ignore

  it('a user name or password in the URL is refused, and no message repeats it', async () => {
    for (const userinfo of ['user', ':s3cret-word', 'user:s3cret-word']) {
      const failure = await createOutboundClient().request(`http://${userinfo}@a.example/`).catch((error: unknown) => error); // prettier-ignore

      expect(failure).toMatchObject({
        reason: 'userinfo_refused',
        message: expect.stringContaining('http://a.example:'),
      });
      expect(JSON.stringify([String(failure), failure])).not.toContain('s3cret-word');
    }
  });

  it('no failure repeats the path, query, headers or body of the request', async () => {
    const secret = 's3cret-word';
    const { resolve } = scriptedResolve({ 'gone.example': [[]] });
    const init = { method: 'POST' as const, headers: { authorization: secret }, json: { secret } };
    const urls = [local('127.0.0.1'), 'http://gone.example/', 'http://unknown.example/', `file:///`, 'http://a b/'];
    for (const url of urls) {
      const failure = await createOutboundClient({ resolve }).request(`${url}${secret}?key=${secret}`, init).catch((error: unknown) => error); // prettier-ignore

      expect(failure).toBeInstanceOf(OutboundError);
      expect(JSON.stringify([String(failure), failure, (failure as Error).stack])).not.toContain(secret);
    }
  });

  it('proxies of the environment are not used', async () => {
    const names = [
      'http_proxy',
      'HTTP_PROXY',
      'https_proxy',
      'HTTPS_PROXY',
      'all_proxy',
      'ALL_PROXY',
      'NODE_USE_ENV_PROXY',
    ];
    const saved = names.map((name) => [name, process.env[name]] as const);
    let proxied = 0;
    const proxy = await startHttp((_req, res) => void (proxied++, res.end()));
    try {
      for (const name of names)
        process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy.port}`;
      const client = createOutboundClient({ allow: ['127.0.0.1'] });

      expect((await client.request(local('127.0.0.1'))).text()).toBe('reached');
      expect(proxied).toBe(0);
    } finally {
      for (const [name, value] of saved) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      await proxy.close();
    }
  });
});
