import { selfSigned, startNameServer } from '@svc/testing';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { createOutboundClient } from './client';
import { getOutcome, startHttp, startHttps, startTcp, type LoopbackServer } from './outbound.testing';
import type { OutboundRequest, OutboundSettings } from './settings';

describe('limits', () => {
  const open: LoopbackServer[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()));
  });
  const started = async (server: Promise<LoopbackServer>) => {
    open.push(await server);
    return server;
  };
  const request = (server: LoopbackServer, settings: OutboundSettings = {}, init?: OutboundRequest) =>
    createOutboundClient({ allow: ['127.0.0.1'], ...settings }).request(`http://127.0.0.1:${server.port}/x?y=1`, init);

  const http = (handler: RequestListener) => started(startHttp(handler));
  const tcp = (handler: (socket: Socket) => void) => started(startTcp(handler));

  it('reads a response of exactly maxResponseBytes and refuses one byte more', async () => {
    const server = await http((_req, res) => res.end('x'.repeat(100)));

    expect((await request(server, { maxResponseBytes: 100 })).text()).toBe('x'.repeat(100));
    expect(await getOutcome(request(server, { maxResponseBytes: 99 }))).toBe('response_too_large');
  });

  it('stops reading an endless body and closes the connection', async () => {
    const server = await http((_req, res) => {
      const write = () => {
        while (res.write('x'.repeat(10_000)));
      };
      res.on('drain', write);
      write();
    });

    expect(await getOutcome(request(server, { maxResponseBytes: 100_000 }))).toBe('response_too_large');
    await server.allClosed();
  });

  it('refuses a content-length above the limit before reading the body', async () => {
    const server = await http((_req, res) => res.writeHead(200, { 'content-length': '1000000000' }).flushHeaders());

    expect(await getOutcome(request(server))).toBe('response_too_large');
    await server.allClosed();
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(50_000_000))],
    ['br', brotliCompressSync(Buffer.alloc(50_000_000))],
  ])('stops decompressing a %s bomb at the limit', async (encoding, bomb) => {
    const server = await http((_req, res) => res.writeHead(200, { 'content-encoding': encoding }).end(bomb));

    expect(bomb.length).toBeLessThan(100_000);
    expect(await getOutcome(request(server, { maxResponseBytes: 100_000 }))).toBe('response_too_large');
    await server.allClosed();
  });

  it('stops reading an endless body of empty gzip members', async () => {
    const members = Buffer.concat(Array<Buffer>(1_000).fill(gzipSync('')));
    const server = await http((_req, res) => {
      res.writeHead(200, { 'content-encoding': 'gzip' });
      const write = () => {
        while (res.write(members));
      };
      res.on('drain', write);
      write();
    });

    expect(await getOutcome(request(server, { maxResponseBytes: 100_000 }))).toBe('response_too_large');
    await server.allClosed();
  });

  it('compressed bodies are decompressed', async () => {
    const server = await http((req, res) => {
      const body = req.headers['accept-encoding'] === 'gzip, br' ? '{"a":1}' : 'other';
      res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body));
    });

    expect((await request(server)).json()).toEqual({ a: 1 });
  });

  it.each([
    ['gzip', Buffer.from('not gzip')],
    ['gzip', gzipSync('x'.repeat(1_000)).subarray(0, 20)],
    ['br', Buffer.from('not brotli')],
    ['deflate', Buffer.from('x')],
    ['gzip, gzip', gzipSync(gzipSync('x'))],
  ])('a body whose encoding %s is unknown or corrupt is refused', async (encoding, body) => {
    const server = await http((_req, res) => res.writeHead(200, { 'content-encoding': encoding }).end(body));

    expect(await getOutcome(request(server))).toBe('decoding_failed');
  });

  it('headers above the limit are refused', async () => {
    const server = await http((_req, res) => res.writeHead(200, { 'x-large': 'x'.repeat(3_000) }).end());

    expect(await getOutcome(request(server, { maxHeaderBytes: 2_000 }))).toBe('headers_too_large');
    expect(await getOutcome(request(server, { maxHeaderBytes: 4_000 }))).toBe(200);
  });

  it('the total time limit bounds endless headers, bodies and redirects', async () => {
    const drip = (head: string) => (socket: Socket) => {
      socket.write(head);
      const timer = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(timer));
    };
    const servers = [
      await tcp(() => undefined),
      await tcp(drip('HTTP/1.1 200 OK\r\nx-slow: ')),
      await tcp(drip('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')),
      await http((req, res) => void setTimeout(() => res.writeHead(302, { location: `${req.url}1` }).end(), 20)),
    ];
    for (const server of servers) {
      expect(await getOutcome(request(server, { timeoutMs: 250, maxRedirects: 1_000 }))).toBe('timed_out');
      await server.allClosed();
    }
    expect(await getOutcome(request(servers[0] as LoopbackServer, {}, { timeoutMs: 100 }))).toBe('timed_out');
  });

  it('the connect time limit bounds name resolution and the TLS handshake', async () => {
    const silent = await tcp(() => undefined);
    const client = createOutboundClient({ allow: ['127.0.0.1'], connectTimeoutMs: 150, resolve: (name, options, callback) => {
      if (name !== 'silent.example') callback(null, [{ address: '127.0.0.1', family: 4 }]);
    } }); // prettier-ignore

    expect(await getOutcome(client.request('http://silent.example/'))).toBe('connect_timeout');
    expect(await getOutcome(client.request(`https://127.0.0.1:${silent.port}/`))).toBe('connect_timeout');
    await silent.allClosed();
  });

  it('the caller can abort before the request, before the response and during the body', async () => {
    const server = await http((_req, res) => {
      res.write('x');
      waiting.abort();
    });
    const waiting = new AbortController();

    expect(await getOutcome(request(server, {}, { signal: waiting.signal }))).toBe('aborted');
    await server.allClosed();
    const before = server.connections();
    expect(await getOutcome(request(server, {}, { signal: AbortSignal.abort() }))).toBe('aborted');
    expect(server.connections()).toBe(before);
    const silent = await tcp(() => during.abort());
    const during = new AbortController();
    expect(await getOutcome(request(silent, {}, { signal: during.signal }))).toBe('aborted');
  });

  it.each([
    ['connection_lost', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx'],
    ['connection_lost', ''],
    ['invalid_response', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['invalid_response', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('a broken response is %s', async (reason, bytes) => {
    const server = await tcp((socket) => socket.once('data', () => socket.end(bytes)));

    expect(await getOutcome(request(server))).toBe(reason);
  });

  it('a port without a listener is connect_failed, a name without an address name_not_resolved', async () => {
    const server = await startTcp(() => undefined);
    await server.close();
    expect(await getOutcome(request(server))).toBe('connect_failed');

    const names = await startNameServer(() => 3);
    const { Resolver } = await import('node:dns');
    const resolver = new Resolver({ timeout: 1_000, tries: 1 });
    resolver.setServers([names.address]);
    const client = createOutboundClient({
      resolve: (name, _options, callback) => resolver.resolve4(name, (error) => callback(error, [])),
    });
    await expect(client.request('http://gone.example/')).rejects.toMatchObject({ reason: 'name_not_resolved', code: 'ENOTFOUND' }); // prettier-ignore
    await names.close();
  });

  it('certificates are verified against the given authorities only', async () => {
    const [ours, theirs] = [selfSigned('localhost'), selfSigned('localhost')];
    const server = await started(startHttps(ours, (_req, res) => res.end('ok')));
    const get = (host: string, ca?: string) =>
      getOutcome(
        createOutboundClient({
          allow: ['127.0.0.1'],
          resolve: (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
          ...(ca && { tls: { ca } }),
        }).request(`https://${host}:${server.port}/`),
      );

    expect(await get('localhost', ours.cert)).toBe(200);
    expect(await get('localhost', theirs.cert)).toBe('tls_failed');
    expect(await get('localhost')).toBe('tls_failed');
    expect(await get('other.example', ours.cert)).toBe('tls_failed');
  });

  it('headers of the connection, and header values with line breaks, are refused', async () => {
    const server = await http((_req, res) => res.end());
    for (const headers of [{ Host: 'a' }, { 'transfer-encoding': 'chunked' }, { connection: 'upgrade' }, { 'x-a': 'b\r\nc: d' }, { 'bad name': 'x' }]) {
      expect(await getOutcome(request(server, {}, { headers }))).toBe('invalid_request');
    }
    expect(server.connections()).toBe(0);
  }); // prettier-ignore

  it('sends bodies, JSON and methods unchanged', async () => {
    const server = await http((req, res) => {
      const parts: Buffer[] = [];
      req.on('data', (part: Buffer) => parts.push(part));
      req.on('end', () => {
        const { 'content-type': type, host, 'content-length': length } = req.headers;
        res.end(JSON.stringify({ method: req.method, url: req.url, type, host, length, body: Buffer.concat(parts).toString() }));
      });
    }); // prettier-ignore
    const host = `127.0.0.1:${server.port}`;

    expect((await request(server)).json()).toEqual({ method: 'GET', url: '/x?y=1', host, body: '' });
    expect((await request(server, {}, { method: 'PUT', body: 'ü' })).json()).toMatchObject({
      method: 'PUT',
      body: 'ü',
      length: '2',
    });
    expect((await request(server, {}, { method: 'POST', json: [1], headers: { 'Content-Type': 'application/cloudevents+json' } })).json())
      .toMatchObject({ body: '[1]', type: 'application/cloudevents+json' }); // prettier-ignore
    expect((await request(server, {}, { method: 'HEAD' })).text()).toBe('');
  });

  it('json() fails with not_json for a body that is not JSON', async () => {
    const response = await request(await http((_req, res) => res.end('<html>')));

    expect(() => response.json()).toThrow(expect.objectContaining({ reason: 'not_json' }));
  });
});
