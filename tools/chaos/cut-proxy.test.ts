import { eventually, startNats, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { connect } from 'nats';
import { startCutProxy, type CutProxy } from './cut-proxy';

describe('the cut proxy before Redis', () => {
  let server: TestServer;
  let proxy: CutProxy;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    proxy = await startCutProxy('redis', server.port);
    redis = new Redis(proxy.url, { retryStrategy: () => 10, maxRetriesPerRequest: 0 }).on('error', () => undefined);
  }, 30_000);
  afterAll(async () => {
    redis.disconnect();
    await proxy.close();
    await server.stop();
  });

  it('cuts connections in the middle, and lets new ones through', async () => {
    await redis.ping();
    const waiting = redis.blpop('nothing', 0).catch((error: unknown) => error);
    const gone = new Promise((resolve) => redis.once('close', resolve));

    proxy.cut();
    await gone;

    expect(await waiting).toBeInstanceOf(Error);
    await eventually(async () => (await redis.ping()) === 'PONG');
  });

  it('keeps the order when a delay ends while something is on its way', async () => {
    proxy.weather.delayMs = 100;
    const late = redis.rpush('list', 'first');
    await eventually(() => proxy.underWay > 0);
    proxy.weather.delayMs = 0;
    await Promise.all([late, redis.rpush('list', 'second')]);

    expect(await redis.lrange('list', 0, '-1')).toEqual(['first', 'second']);
  });
});

describe('the cut proxy before the bus', () => {
  it('publishes everything twice while it doubles', async () => {
    const server = await startNats();
    const proxy = await startCutProxy('nats', server.port);
    const [sender, hearer] = await Promise.all([connect({ servers: proxy.url }), connect({ servers: server.url })]);
    const heard: string[] = [];
    hearer.subscribe('s.>', { callback: (_, message) => heard.push(message.string()) });
    await hearer.flush();

    sender.publish('s.one', 'once');
    await sender.flush();
    proxy.weather.isDoubling = true;
    sender.publish('s.two', 'twice');
    await sender.flush();
    await hearer.flush();

    expect(heard).toEqual(['once', 'twice', 'twice']);
    await Promise.all([sender.close(), hearer.close()]);
    await proxy.close();
    await server.stop();
  }, 30_000);
});
