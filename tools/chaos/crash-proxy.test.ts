import { eventually, startNats, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { AckPolicy, connect, type NatsConnection } from 'nats';
import { startNatsCrashProxy, startRedisCrashProxy, type CrashProxy } from './crash-proxy';
import { Operations } from './operations';

let redisServer: TestServer;
let natsServer: TestServer;
beforeAll(async () => {
  [redisServer, natsServer] = await Promise.all([startRedis(), startNats()]);
}, 30_000);
afterAll(() => Promise.all([redisServer.stop(), natsServer.stop()]));

/** In place of the service: the kill is recorded only, but the proxy really closes the connections. */
const victim = () => {
  const killed: number[] = [];
  return { killed, operations: new Operations(() => killed.push(Date.now())) };
};

describe('the crash proxy in front of Redis', () => {
  let proxy: CrashProxy;
  let through: Redis;
  let direct: Redis;
  const open = async (operations: Operations) => {
    proxy = await startRedisCrashProxy(redisServer.port, operations);
    const options = { retryStrategy: () => null, maxRetriesPerRequest: 0 };
    through = new Redis(proxy.url, options).on('error', () => undefined);
    direct = new Redis(redisServer.url);
    await direct.flushall();
    await through.ping();
  };
  afterEach(async () => {
    through.disconnect();
    direct.disconnect();
    await proxy.close();
  });

  it('counts operations by names without ids, and ignores handshakes', async () => {
    const { operations } = victim();
    await open(operations);

    operations.arm();
    await through.ping();
    await through.hset('{s0}:job:17', 'state', 'PENDING');
    await through.pipeline().get('ctx:17').lpush('{s0}:jobs:wait', '17').exec();
    await through.eval('return 1', 1, '{s0}:jobs:17-submit');

    expect(operations.disarm()).toEqual([
      'HSET job',
      'GET context',
      'LPUSH {s0}:jobs:wait',
      'EVALSHA {s0}:jobs:<entry> text',
    ]);
  });

  it('before: the server never gets the k-th operation, nor any later one', async () => {
    const { operations, killed } = victim();
    await open(operations);

    operations.arm({ k: 2, mode: 'before' });
    const all = Promise.allSettled([through.set('a', 1), through.set('b', 1), through.set('c', 1)]);

    expect(await operations.death).toBe('SET b');
    expect((await all).map(({ status }) => status).slice(1)).toEqual(['rejected', 'rejected']);
    expect(await direct.mget('a', 'b', 'c')).toEqual(['1', null, null]);
    expect(killed).toHaveLength(1);
  });

  it('after: the server executes the k-th operation, and the caller gets no response', async () => {
    const { operations, killed } = victim();
    await open(operations);

    operations.arm({ k: 2, mode: 'after' });
    const all = Promise.allSettled([through.set('a', 1), through.set('b', 1), through.set('c', 1)]);

    expect(await operations.death).toBe('SET b');
    expect((await all)[1]?.status).toBe('rejected');
    expect(await direct.mget('a', 'b', 'c')).toEqual(['1', '1', null]);
    expect(killed).toHaveLength(1);
  });

  it('counts a transaction as one operation, and kills after it', async () => {
    const { operations, killed } = victim();
    await open(operations);
    const both = () => through.multi().set('{s0}:job:1', 'a').set('ctx:1', 'b').exec();

    operations.arm({ k: 1, mode: 'after' });
    await expect(both()).rejects.toThrow();

    await eventually(async () => expect(await direct.mget('{s0}:job:1', 'ctx:1')).toEqual(['a', 'b']));
    expect([killed.length, operations.disarm()]).toEqual([1, ['EXEC of SET job']]);
  });

  it('handles requests in several packets, and large ones', async () => {
    const { operations } = victim();
    await open(operations);
    const big = 'x'.repeat(3_000_000);

    await through.set('big', big);

    expect(await direct.strlen('big')).toBe(big.length);
    expect(await through.get('big')).toBe(big);
  });

  it('ignores the operations of an idle service, except for fetching work', async () => {
    const { operations } = victim();
    await open(operations);

    operations.learnBackground();
    await through.hgetall('{s0}:lanes');
    await through.eval('return 1', 1, '{s0}:jobs:wait');
    operations.arm();
    await through.hgetall('{s0}:lanes');
    await through.eval('return 1', 1, '{s0}:jobs:wait');

    expect(operations.disarm()).toEqual([expect.stringMatching(/^EVALSHA \{s0\}:jobs:wait /)]);
  });
});

describe('the crash proxy in front of the bus', () => {
  let proxy: CrashProxy;
  let through: NatsConnection;
  let direct: NatsConnection;
  const open = async (operations: Operations) => {
    proxy = await startNatsCrashProxy(natsServer.port, operations);
    through = await connect({ servers: proxy.url, reconnect: false });
    direct = await connect({ servers: natsServer.url });
    const manager = await direct.jetstreamManager();
    await manager.streams.add({ name: 'S', subjects: ['s.>'] });
  };
  const stored = async () => {
    const manager = await direct.jetstreamManager();
    return (await manager.streams.info('S')).state.messages;
  };
  afterEach(async () => {
    const manager = await direct.jetstreamManager();
    await manager.streams.delete('S');
    await Promise.allSettled([through.close(), direct.close()]);
    await proxy.close();
  });

  it('counts publishes and acknowledgements', async () => {
    const { operations } = victim();
    await open(operations);
    const manager = await direct.jetstreamManager();
    await manager.consumers.add('S', { durable_name: 'd', ack_policy: AckPolicy.Explicit });

    operations.arm();
    through.publish('plain', 'x');
    await through.jetstream().publish('s.one', 'x');
    const consumer = await through.jetstream().consumers.get('S', 'd');
    (await consumer.next())?.ack();
    await through.flush();

    expect(operations.disarm()).toEqual(['PUB plain', 'PUB s.one', 'ACK d']);
  });

  it.each([
    ['before', 1],
    ['after', 2],
  ] as const)('%s: the stream then holds %i messages', async (mode, messages) => {
    const { operations, killed } = victim();
    await open(operations);
    const js = through.jetstream();

    operations.arm({ k: 2, mode });
    await js.publish('s.one', 'x');
    const lost = js.publish('s.two', 'x').catch((error: unknown) => error);

    expect(await operations.death).toBe('PUB s.two');
    expect(await lost).toBeInstanceOf(Error);
    await eventually(async () => expect(await stored()).toBe(messages));
    expect(killed).toHaveLength(1);
  });
});
