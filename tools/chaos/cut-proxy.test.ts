import { eventually, startNats, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { connect } from 'nats';
import { startCutProxy, type CutProxy } from './cut-proxy';

describe('the cut proxy in front of Redis', () => {
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

  it('closes open connections, and accepts new ones', async () => {
    await redis.ping();
    const waiting = redis.blpop('nothing', 0).catch((error: unknown) => error);
    const gone = new Promise((resolve) => redis.once('close', resolve));

    proxy.cut();
    await gone;

    expect(await waiting).toBeInstanceOf(Error);
    await eventually(async () => (await redis.ping()) === 'PONG');
  });

  it('keeps the order when a delay ends while data is in transit', async () => {
    proxy.weather.delayMs = 100;
    const late = redis.rpush('list', 'first');
    await eventually(() => proxy.underWay > 0);
    proxy.weather.delayMs = 0;
    await Promise.all([late, redis.rpush('list', 'second')]);

    expect(await redis.lrange('list', 0, '-1')).toEqual(['first', 'second']);
  });
});

describe('the cut proxy in front of the bus', () => {
  it('publishes every message twice while duplication is on', async () => {
    const server = await startNats();
    const proxy = await startCutProxy('nats', server.port);
    const [sender, subscriber] = await Promise.all([connect({ servers: proxy.url }), connect({ servers: server.url })]);
    const received: string[] = [];
    subscriber.subscribe('s.>', { callback: (_, message) => received.push(message.string()) });
    await subscriber.flush();

    sender.publish('s.one', 'once');
    await sender.flush();
    proxy.weather.isDoubling = true;
    sender.publish('s.two', 'twice');
    await sender.flush();
    await subscriber.flush();

    expect(received).toEqual(['once', 'twice', 'twice']);
    await Promise.all([sender.close(), subscriber.close()]);
    await proxy.close();
    await server.stop();
  }, 30_000);
});
