import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { serve, type Listening, type ServeOptions } from './server';

const usual: ServeOptions = {
  host: '127.0.0.1',
  port: 0,
  requestTimeoutMs: 5_000,
  idleTimeoutMs: 60_000,
  writeTimeoutMs: 60_000,
  maxConnections: 100,
  maxConnectionsPerAddress: 100,
  onProblem: (problem) => {
    throw problem;
  },
};
const ask = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

describe('connections', () => {
  const opened: Socket[] = [];
  let listening: Listening | undefined;
  const open = (bytes = '', localAddress = '127.0.0.1'): Socket => {
    if (!listening) throw new Error('not listening');
    const socket = connect({ port: listening.port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    if (bytes) socket.write(bytes);
    opened.push(socket);
    return socket;
  };
  /** All that comes until the service ends the connection. */
  const whole = async (socket: Socket): Promise<string> => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  };
  const isServed = async (socket: Socket): Promise<boolean> => {
    const ended = once(socket, 'close').then(() => false);
    return Promise.race([once(socket, 'data').then(() => true), ended]);
  };
  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy();
    await listening?.close(0);
  });

  it('count once when a request is served without its upgrade', async () => {
    listening = await serve((_req, res) => void res.end('served'), { ...usual, maxConnectionsPerAddress: 1 });
    const { server } = listening;
    server.on('upgrade', (_req, socket) => {
      socket.unshift(Buffer.from(ask));
      server.emit('connection', socket as Socket);
    });

    const offer = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';

    expect(await isServed(open(offer))).toBe(true);
  });

  describe('that do not read their responses', () => {
    it('are closed when they do not read, while others are served', async () => {
      const big = Buffer.alloc(32 * 1_024 * 1_024);
      const closed: Promise<unknown>[] = [];
      listening = await serve(
        (req, res) => {
          if (req.url === '/small') return void res.end('small');
          closed.push(once(res, 'close'));
          res.end(big);
        },
        { ...usual, writeTimeoutMs: 2_000 },
      );

      // Without a listener for data these sockets are never read.
      for (let i = 0; i < 20; i += 1) open(ask);
      while (closed.length < 20) await new Promise(setImmediate);
      const { status } = await fetch(`http://127.0.0.1:${listening.port}/small`);

      expect(status).toBe(200);
      await Promise.all(closed);
    });

    it('are closed also when they keep sending requests', async () => {
      const closed: Promise<unknown>[] = [];
      listening = await serve(
        (_req, res) => {
          closed.push(once(res, 'close'));
          res.end(Buffer.alloc(32 * 1_024 * 1_024));
        },
        { ...usual, writeTimeoutMs: 2_000 },
      );

      const socket = open(ask);
      const asking = setInterval(() => socket.write(ask), 20);
      while (closed.length === 0) await new Promise(setImmediate);
      await closed[0];

      clearInterval(asking);
    });

    it('are kept while a handler runs', async () => {
      let answer: ServerResponse | undefined;
      listening = await serve((req, res) => {
        answer = res;
        // Shorter than the server's own, and only from here on: the request itself must not be late.
        req.socket.setTimeout(20);
      }, usual);
      const timedOut = once(listening.server, 'timeout');
      const response = fetch(`http://127.0.0.1:${listening.port}/`);

      await timedOut;
      answer?.end('late');

      expect(await (await response).text()).toBe('late');
    });
  });

  it('over the limit are closed unread, until another one ends', async () => {
    const refused: string[] = [];
    const onConnectionRefused = (limit: string) => void refused.push(limit);
    listening = await serve((_req, res) => res.end('ok'), { ...usual, maxConnections: 2, onConnectionRefused });
    const [first, second] = [open(ask), open(ask)];
    expect([await isServed(first), await isServed(second)]).toEqual([true, true]);

    expect(await isServed(open(ask))).toBe(false);

    expect(refused).toEqual(['total']);
    first.destroy();
    while (!(await isServed(open(ask)))) await new Promise(setImmediate);
  });

  it('of one address are limited; others, and trusted proxies, are served', async () => {
    const refused: string[] = [];
    listening = await serve((_req, res) => res.end('ok'), {
      ...usual,
      maxConnectionsPerAddress: 2,
      isProxy: (address) => address === '127.0.0.9',
      onConnectionRefused: (limit) => void refused.push(limit),
    });
    const [first, second] = [open(ask), open(ask)];
    expect([await isServed(first), await isServed(second)]).toEqual([true, true]);

    expect(await isServed(open(ask))).toBe(false);

    expect(refused).toEqual(['address']);
    expect(await isServed(open(ask, '127.0.0.2'))).toBe(true);
    for (let i = 0; i < 5; i += 1) expect(await isServed(open(ask, '127.0.0.9'))).toBe(true);
    first.destroy();
    while (!(await isServed(open(ask)))) await new Promise(setImmediate);
  });

  describe('with malformed bytes', () => {
    const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

    it('after a request whose response has started: nothing is written into that response', async () => {
      listening = await serve(
        (_req, res) => void res.writeHead(200, { 'Content-Length': 1_000 }).write('begun'),
        usual,
      );

      const text = await whole(open(`${ask}garbage\r\n\r\n`));

      expect(text).not.toContain('invalid_body');
      expect(statuses(text).filter((status) => status !== 200)).toEqual([]);
    });

    it('after a request whose response has not started: no other response takes its place', async () => {
      let isAsked = false;
      listening = await serve(() => void (isAsked = true), usual);
      const socket = open(ask);
      while (!isAsked) await new Promise(setImmediate);

      socket.write('garbage\r\n\r\n');

      expect(await whole(socket)).toBe('');
    });

    it('in a body whose request has been answered: one response', async () => {
      listening = await serve((_req, res) => void res.writeHead(413).end(), usual);
      const socket = open('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
      const answered = whole(socket);
      await once(socket, 'data');

      socket.write('zz\r\n');

      expect(statuses(await answered)).toEqual([413]);
    });

    it('400: in a body, and after an answered request', async () => {
      listening = await serve((req, res) => void (req.method === 'GET' && res.end('ok')), usual);

      const inBody = await whole(open('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'));
      const behind = open(ask);
      const answered = whole(behind);
      await once(behind, 'data');
      behind.write('garbage\r\n\r\n');

      expect(statuses(inBody)).toEqual([400]);
      expect(statuses(await answered)).toEqual([200, 400]);
    });
  });

  it('idle ones are closed after the idle timeout', async () => {
    listening = await serve((_req, res) => res.end('ok'), { ...usual, idleTimeoutMs: 50 });
    const req = request({ port: listening.port, headers: { Connection: 'keep-alive' } }).end();
    const [response] = (await once(req, 'response')) as [NodeJS.ReadableStream];
    response.resume();

    await once(req.socket as Socket, 'close');
  });
});
