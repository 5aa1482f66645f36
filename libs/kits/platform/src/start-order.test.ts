import { eventually, launchService, useServers, type LaunchedService, type ServiceName } from '@svc/testing';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

const servers = useServers();
const launched: LaunchedService[] = [];
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(launched.splice(0).map((service) => service.stop()));
  await Promise.all(closers.splice(0).map((close) => close()));
}, 30_000);

async function launch(app: ServiceName, urls = { redisUrl: servers.redisUrl, natsUrl: servers.natsUrl }, env = {}) {
  const service = await launchService(app, urls, env);
  launched.push(service);
  return service;
}

const readiness = async ({ probes }: LaunchedService) => (await fetch(`${probes}/readyz`)).status;

/** Forwards to a server until a client sends the text, then resets every connection and accepts none until `restore`. */
async function breakingProxy(scheme: string, targetPort: number, text: string) {
  const sockets = new Set<Socket>();
  let state: 'armed' | 'broken' | 'restored' = 'armed';
  const server = createServer((client) => {
    if (state === 'broken') return void client.resetAndDestroy();
    const upstream = connect(targetPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // The close event that follows ends both sides.
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (data: Buffer) => {
      if (state === 'armed' && data.includes(text)) state = 'broken';
      if (state === 'broken') for (const socket of sockets) socket.destroy();
      else upstream.write(data);
    });
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('the proxy has no port');
  return { url: `${scheme}://127.0.0.1:${address.port}`, restore: () => void (state = 'restored') };
}

describe('a service that starts before Redis and NATS', () => {
  it.each(['api', 'scheduler', 'engine', 'kernel'] as const)(
    '%s logs the dependency it waits for, is not ready, and starts once both respond',
    async (app) => {
      await Promise.all([servers.redis.kill(), servers.nats.kill()]);

      const service = await launch(app);
      await eventually(() => expect(service.output()).toMatch(/(store|bus) is not responding yet.*127\.0\.0\.1:\d+/), {
        withinMs: 30_000,
      });
      const before = await readiness(service);
      await Promise.all([servers.redis.start(), servers.nats.start()]);
      await service.untilReady();

      expect([before, service.exitCode]).toEqual([503, null]);
    },
    90_000,
  );

  it.each([
    ['api', 'bus', '$JS.API.STREAM'],
    ['engine', 'bus', '$JS.API.STREAM'],
    ['engine', 'store', 'cfg:system:policy'],
    ['scheduler', 'store', 'sys:workers:snapshot'],
    ['kernel', 'store', 'cfg:system:policy'],
  ] as const)(
    '%s waits when the connection to the %s is lost at %s, and starts once it is restored',
    async (app, what, text) => {
      const { redis, nats, redisUrl, natsUrl } = servers;
      const proxy = what === 'bus' ? await breakingProxy('nats', nats.port, text) : await breakingProxy('redis', redis.port, text); // prettier-ignore

      const service = await launch(
        app,
        what === 'bus' ? { redisUrl, natsUrl: proxy.url } : { redisUrl: proxy.url, natsUrl },
      );
      await eventually(() => expect(service.output()).toContain(`${what} is not responding yet`), { withinMs: 30_000 });
      proxy.restore();
      await service.untilReady();

      expect(service.exitCode).toBeNull();
    },
    60_000,
  );

  it('exits with 75 and logs the address when the store does not respond within SVC_START_WAIT', async () => {
    await servers.redis.kill();

    const service = await launch('engine', undefined, { SVC_START_WAIT: '1s' });
    await eventually(() => expect(service.exitCode).toBe(75), { withinMs: 30_000 });

    expect(service.output()).toMatch(
      new RegExp(`engine: the store did not respond within 1s: 127\\.0\\.0\\.1:${servers.redis.port}\\n`),
    );
  }, 60_000);

  it('exits with 0 when it is stopped while it waits', async () => {
    await servers.redis.kill();
    const service = await launch('engine');
    await eventually(() => expect(service.output()).toContain('store is not responding yet'), { withinMs: 30_000 });

    await service.stop();

    expect(service.exitCode).toBe(0);
  }, 60_000);
});
