import { busOptions, openBus, type Bus } from '@svc/bus';
import { queues } from '@svc/queues.config';
import {
  commonMetrics,
  engineEnv,
  Health,
  openMetrics,
  readEnv,
  StartError,
  systemClock,
  type Logger,
} from '@svc/runtime';
import { openStore, type Store } from '@svc/store';
import { emptyRedis, eventually, useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { guardStore } from './guard-store';

const impatient = { maxRetriesPerRequest: 1, commandTimeout: 1_000, disconnectTimeout: 50 };

describe('guardStore', () => {
  let redis: Redis;
  let store: Store;
  let bus: Bus;
  afterAll(async () => {
    redis.disconnect();
    await bus.abandon();
  });
  const servers = useServers();
  beforeAll(async () => {
    redis = new Redis(servers.redisUrl, { ...impatient, retryStrategy: () => 20 });
    redis.on('error', () => undefined);
    store = openStore(redis, queues, { metaSec: 3_600, dataSec: 600 });
    const env = readEnv(engineEnv, { NATS_URL: servers.natsUrl }).values;
    bus = await openBus(busOptions(env, 'test'), { nowUs: () => 0 });
  });
  beforeEach(() => bus.ensureStreams());
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    // A Redis that a test restarted may still load its data.
    await eventually(() => redis.ping());
    await set('appendfsync', 'always');
    await set('maxmemory-policy', 'noeviction');
    await set('maxmemory', '0');
  });

  const set = (name: string, value: string) => redis.call('CONFIG', 'SET', name, value);
  const lines: string[] = [];
  const log: Logger = {
    debug: () => undefined,
    info: (msg, fields) => void lines.push(`info ${msg} ${String(fields?.['finding'] ?? '')}`),
    warn: (msg, fields) => void lines.push(`warn ${msg} ${String(fields?.['finding'] ?? '')}`),
    error: (msg, fields) => void lines.push(`error ${msg} ${String(fields?.['finding'] ?? '')}`),
    child: () => log,
    oncePer: () => log,
  };

  /** Starts the guard as a new process would. */
  async function start({ production = false, aborted = false } = {}) {
    lines.length = 0;
    const env = {
      ...readEnv(engineEnv, { REDIS_URL: servers.redisUrl, SVC_REDIS_MEMORY_LIMIT: '1000000000' }).values,
      production,
    };
    const clock = systemClock();
    const opened = openMetrics(commonMetrics, { pod: 'p' });
    const findings = await guardStore(
      {
        env,
        log,
        clock,
        health: new Health({ clock }),
        build: { version: '0.0.0', commit: 'c', date: '', protocol: 1 },
        stopping: aborted ? AbortSignal.abort() : new AbortController().signal,
        onStop: (_name, step) => void stops.push(step),
      },
      { store, bus, metrics: opened.metrics },
    );
    return {
      codes: () => findings().map(({ code }) => code),
      findings,
      metric: async () =>
        [...(await opened.text()).matchAll(/svc_store_findings\{finding="(\w+)"/g)].map(([, code]) => code),
    };
  }
  /** Reconnects as after a network fault, which triggers a check. */
  const reconnect = async () => void redis.disconnect(true);
  const submitted = () => bus.publishDurableBytes('sys.audit.export', Buffer.from('{}'));

  it('reports nothing for a safe store', async () => {
    const { codes, metric } = await start({ production: true });

    expect([codes(), await metric(), lines]).toEqual([[], [], []]);
  });

  it('production does not start on a store that may lose jobs, and the error lists every setting to change', async () => {
    await set('appendfsync', 'no');
    await set('maxmemory-policy', 'allkeys-lru');

    const failure: unknown = await start({ production: true }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(StartError);
    expect(failure).toMatchObject({
      where: `127.0.0.1:${servers.redis.port}`,
      fix: expect.stringMatching(/Set appendfsync always\.[^]*Set maxmemory-policy noeviction\./),
    });
  });

  it('development starts, and warns once per finding', async () => {
    await set('appendfsync', 'no');
    await set('maxmemory-policy', 'allkeys-lru');

    const { codes, metric } = await start();
    await reconnect();
    await eventually(() => redis.ping());

    expect(codes()).toEqual(['fsync', 'eviction']);
    expect(lines).toEqual(['warn store is unsafe fsync', 'warn store is unsafe eviction']);
    expect(await metric()).toEqual(['fsync', 'eviction']);
  });

  it('production starts with a warning if at most a second of writes may be lost', async () => {
    await set('appendfsync', 'everysec');

    await start({ production: true });

    expect(lines).toEqual(['warn store is unsafe fsync_everysec']);
  });

  it('reports findings and their end while the process runs, without stopping it', async () => {
    const { codes, metric } = await start({ production: true });

    await set('maxmemory-policy', 'volatile-ttl');
    await reconnect();
    await eventually(() => expect(codes()).toEqual(['eviction']));
    expect(lines).toEqual(['error store is unsafe eviction']);
    await set('maxmemory-policy', 'noeviction');
    await reconnect();
    await eventually(() => expect(codes()).toEqual([]));

    expect(lines.at(-1)).toBe('info store finding resolved eviction');
    expect(await metric()).toEqual([]);
  });

  it('waits for a store that does not respond yet', async () => {
    await servers.redis.kill();

    const starting = start({ production: true });
    await eventually(() => expect(lines[0]).toMatch(/^warn store is not responding yet/));
    await servers.redis.start();

    expect((await starting).codes()).toEqual([]);
  });

  it('a stopping process does not wait', async () => {
    await servers.redis.kill();

    await start({ aborted: true });

    expect(lines[0]).toMatch(/^warn store check failed/);
    await servers.redis.start();
  });

  it('every process recognizes the store of its installation', async () => {
    await start();
    await submitted();

    expect((await start()).codes()).toEqual([]);
  });

  it('an empty store is reported by every process while the bus still has messages of jobs, until an operator acknowledges it', async () => {
    await start();
    await submitted();
    await emptyRedis(servers.redisUrl);

    const { findings, metric } = await start();

    expect(findings()).toMatchObject([{ code: 'data_lost', what: expect.stringMatching(/the bus holds 1 messages/) }]);
    expect(await metric()).toEqual(['data_lost']);
    expect(lines).toEqual(['error store has lost data data_lost']);
    expect((await start()).codes()).toEqual(['data_lost']);
    await redis.hdel('svc:installation', 'alarm');
    expect((await start()).codes()).toEqual([]);
  });

  it('a store that is emptied while a process runs is reported on reconnection', async () => {
    const { codes, findings } = await start();

    await emptyRedis(servers.redisUrl);
    await reconnect();

    await eventually(() => expect(codes()).toEqual(['data_lost']));
    expect(findings()[0]?.what).toMatch(/emptied while services ran/);
  });

  it('a store that is replaced by another one is reported on reconnection', async () => {
    const { codes } = await start();

    await redis.hset('svc:installation', 'id', 'of-another');
    await reconnect();

    await eventually(() => expect(codes()).toEqual(['data_lost']));
  });

  it('a store that has jobs but no installation marker is reported', async () => {
    await redis.sadd('{s0}:tenants', 'acme');

    expect((await start()).codes()).toEqual(['data_lost']);
  });

  it('processes that start concurrently on a new store agree on one installation, without an alarm', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => start()));

    expect(all.flatMap(({ codes }) => codes())).toEqual([]);
  });
});
