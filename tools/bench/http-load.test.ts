import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { setImmediate as soon } from 'node:timers/promises';
import { HttpLoad, httpRequest } from './http-load';

describe('HttpLoad', () => {
  let server: Server;
  let port: number;
  let load: HttpLoad | undefined;
  const serve = async (listener: RequestListener, connections: number) => {
    server = createServer(listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    port = typeof address === 'object' && address ? address.port : 0;
    load = await HttpLoad.open(port, connections);
    return load;
  };
  afterEach(async () => {
    load?.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('sends every request once, over the given number of connections, one at a time on each', async () => {
    const seen: string[] = [];
    const underWay = new Map<unknown, number>();
    let most = 0;
    const loaded = await serve((req, res) => {
      const now = (underWay.get(req.socket) ?? 0) + 1;
      underWay.set(req.socket, now);
      most = Math.max(most, now);
      let body = '';
      req.on('data', (data) => (body += String(data)));
      req.on('end', () => {
        seen.push(body);
        underWay.set(req.socket, now - 1);
        res.writeHead(201, { 'Content-Length': Buffer.byteLength(body) }).end(body);
      });
    }, 4);
    const answers: string[] = [];

    await loaded.run(20, async (send, i) => {
      const { status, body } = await send(httpRequest('POST', '/', {}, `"ü${i}"`));
      answers.push(`${status} ${body}`);
    });

    expect(new Set(seen).size).toBe(20);
    expect(answers.sort()).toEqual(seen.map((body) => `201 ${body}`).sort());
    expect([underWay.size, most]).toEqual([4, 1]);
  });

  it('reads a response that arrives in pieces', async () => {
    const loaded = await serve(async ({ socket }) => {
      socket.setNoDelay(true);
      for (const byte of Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\ngrüße')) {
        socket.write(Buffer.of(byte));
        await soon();
      }
    }, 1);

    expect(await loaded.one(httpRequest('GET', '/'))).toEqual({ status: 200, body: 'grüße' });
    expect(await loaded.one(httpRequest('GET', '/'))).toEqual({ status: 200, body: 'grüße' });
  });

  it('fails when the server closes the connection or responds without a length', async () => {
    const loaded = await serve((req, res) => {
      if (req.url === '/cut') return req.socket.destroy();
      res.write('in ');
      res.end('pieces');
    }, 1);
    const request = httpRequest('GET', '/cut');

    await expect(loaded.one(request)).rejects.toThrow('closed the connection');
    await expect(loaded.one(request)).rejects.toThrow('closed the connection');
    const other = await HttpLoad.open(port, 1);
    await expect(other.one(httpRequest('GET', '/pieces'))).rejects.toThrow('without a length');
    other.close();
  });
});
