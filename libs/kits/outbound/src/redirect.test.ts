import { selfSigned } from '@svc/testing';
import type { IncomingMessage } from 'node:http';
import { createOutboundClient } from './client';
import { getOutcome, scriptedResolve, startHttp, startHttps, type LoopbackServer } from './outbound.testing';

describe('redirects', () => {
  /** Redirects to the URL in the query, with the status in the path; responds with 200 when there is no URL. */
  let server: LoopbackServer;
  let other: LoopbackServer;
  let secure: LoopbackServer;
  const { cert, key } = selfSigned('localhost');
  const received: { method: string | undefined; headers: IncomingMessage['headers']; body: string }[] = [];
  const resolving = scriptedResolve({ localhost: [['127.0.0.1']], 'a.example': [['127.0.0.1']] });

  beforeAll(async () => {
    const handler = (req: IncomingMessage, res: import('node:http').ServerResponse) => {
      const url = new URL(req.url ?? '', 'http://server');
      const parts: Buffer[] = [];
      req.on('data', (part: Buffer) => parts.push(part));
      req.on('end', () => {
        received.push({ method: req.method, headers: req.headers, body: Buffer.concat(parts).toString() });
        const to = url.searchParams.get('to');
        res
          .writeHead(to === null ? 200 : Number(url.pathname.slice(1)), to === null ? {} : { location: to })
          .end('end');
      });
    };
    server = await startHttp(handler);
    other = await startHttp(handler);
    secure = await startHttps({ cert, key }, handler);
  });
  beforeEach(() => void (received.length = 0));
  afterAll(() => Promise.all([server, other, secure].map((each) => each.close())));

  const client = createOutboundClient({
    allow: ['localhost', '127.0.0.1'],
    maxRedirects: 3,
    ...resolving,
    tls: { ca: cert },
  });
  const from = (to: string, status = 302) => `http://localhost:${server.port}/${status}?to=${encodeURIComponent(to)}`;

  it.each(['http://169.254.169.254/latest', 'http://10.0.0.1/', 'http://[::1]/', 'http://[::ffff:10.0.0.1]/', '//2851995905/', 'http://0251.0376.0251.0376/'])(
    'to %s are refused',
    async (to) => {
      expect(await getOutcome(client.request(from(to)))).toBe('address_refused');
      expect(received).toHaveLength(1);
    },
  ); // prettier-ignore

  it('to a name on loopback are refused when only the first host is allowed', async () => {
    const onlyFirst = createOutboundClient({ allow: ['a.example'], maxRedirects: 3, ...resolving });
    for (const host of ['localhost', '127.0.0.1', 'localhost.']) {
      const url = `http://a.example:${server.port}/302?to=${encodeURIComponent(`http://${host}:${other.port}/`)}`;

      expect(await getOutcome(onlyFirst.request(url))).toMatch(host === 'localhost.' ? /refused|not_resolved/ : /^address_refused$/); // prettier-ignore
    }
    expect(other.connections()).toBe(0);
  });

  it('are checked against the list of hosts again', async () => {
    const listed = createOutboundClient({
      onlyHosts: ['localhost'],
      allow: ['localhost'],
      maxRedirects: 3,
      ...resolving,
    });

    expect(await getOutcome(listed.request(from('http://a.example/')))).toBe('host_refused');
  });

  it.each(['file:///etc/passwd', 'data:text/plain,x', 'ftp://a.example/', 'javascript:1'])('to %s are refused', async (to) => {
    expect(await getOutcome(client.request(from(to)))).toBe('scheme_refused');
  }); // prettier-ignore

  it('to a URL with userinfo, and to text that is not a URL, are refused', async () => {
    expect(await getOutcome(client.request(from(`http://user:pw@localhost:${server.port}/`)))).toBe('userinfo_refused');
    expect(await getOutcome(client.request(from('http://[')))).toBe('redirect_refused');
  });

  it('from https to http are refused, from http to https are followed', async () => {
    const plain = `http://localhost:${server.port}/`;
    const encrypted = `https://localhost:${secure.port}/`;

    expect(await getOutcome(client.request(`${encrypted}302?to=${encodeURIComponent(plain)}`))).toBe(
      'redirect_refused',
    );
    expect(received).toHaveLength(1);
    expect(await getOutcome(client.request(from(encrypted)))).toBe(200);
  });

  it('are followed up to the limit', async () => {
    const nested = (n: number): string => (n === 0 ? '/' : `/302?to=${encodeURIComponent(nested(n - 1))}`);

    const response = await client.request(`http://localhost:${server.port}${nested(3)}`);

    expect([response.status, response.url]).toEqual([200, `http://localhost:${server.port}/`]);
    expect(await getOutcome(client.request(`http://localhost:${server.port}${nested(4)}`))).toBe('too_many_redirects');
  });

  it('are returned as the response unless the client follows them', async () => {
    const still = createOutboundClient({ allow: ['localhost'], ...resolving });

    expect(await getOutcome(still.request(from('http://169.254.169.254/')))).toBe(302);
  });

  it('drop credentials for another origin and keep them for the same', async () => {
    const headers = { Authorization: 'Bearer x', Cookie: 'a=b', 'X-Api-Key': 'k', Accept: 'text/plain', 'user-agent': 'svc' };
    await client.request(from('/'), { headers });
    expect(received.at(-1)?.headers).toMatchObject({ authorization: 'Bearer x', cookie: 'a=b', 'x-api-key': 'k' });

    for (const to of [`http://localhost:${other.port}/`, `http://127.0.0.1:${server.port}/`, `https://localhost:${secure.port}/`]) {
      await client.request(from(to), { headers });

      const last = received.at(-1)?.headers;
      expect(last).toMatchObject({ accept: 'text/plain', 'user-agent': 'svc' });
      for (const name of ['authorization', 'cookie', 'x-api-key']) expect(last).not.toHaveProperty(name);
    }
  }); // prettier-ignore

  it('do not restore credentials when a later hop returns to the first origin', async () => {
    const back = `http://127.0.0.1:${other.port}/302?to=${encodeURIComponent(`http://localhost:${server.port}/`)}`;

    await client.request(from(back), { headers: { authorization: 'Bearer x' } });

    expect(received).toHaveLength(3);
    expect(received.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  it.each([
    [301, 'GET', ''],
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', '{"a":1}'],
    [308, 'POST', '{"a":1}'],
  ])('with %i repeat a POST as %s', async (status, method, body) => {
    await client.request(from('/', status), { method: 'POST', json: { a: 1 } });

    expect(received.at(-1)).toMatchObject({ method, body });
    expect(received.at(-1)?.headers['content-type']).toBe(body ? 'application/json' : undefined);
  });

  it('do not send a body to another origin', async () => {
    const request = { method: 'POST' as const, json: { a: 1 } };

    expect(await getOutcome(client.request(from(`http://localhost:${other.port}/`, 307), request))).toBe(
      'redirect_refused',
    );
    expect(await getOutcome(client.request(from(`http://localhost:${other.port}/`, 303), request))).toBe(200);
    expect(received.at(-1)).toMatchObject({ method: 'GET', body: '' });
  });
});
