import { breakSaving, useServers } from '@svc/testing';
import { Redis } from 'ioredis';
import { readRedisFacts, type RedisFacts } from './redis-facts';
import { checkRedis, requireWritable } from './redis-guard';

const safe: RedisFacts = {
  version: '7.0.15',
  appendOnly: true,
  fsync: 'always',
  evictionPolicy: 'noeviction',
  maxMemoryBytes: 1e9,
  minReplicasToWrite: 1,
};
const wishes = { minReplicas: 1, memoryLimitBytes: 0 };
const found = (facts: RedisFacts, asked = wishes) =>
  checkRedis(facts, asked).map(({ code, severity }) => `${severity} ${code}`);

describe('the check of a Redis configuration', () => {
  it('finds nothing in a durable configuration', () => {
    expect(checkRedis(safe, wishes)).toEqual([]);
    expect(found({ ...safe, version: '7.0.0' })).toEqual([]);
  });

  it.each<[string, Partial<RedisFacts>, string]>([
    ['an old version', { version: '6.0.16' }, 'refuse version'],
    ['a much older one', { version: '5.2.0' }, 'refuse version'],
    ['no append-only file', { appendOnly: false }, 'refuse append_only'],
    ['a file synced by the operating system', { fsync: 'no' }, 'refuse fsync'],
    ['a file synced every second', { fsync: 'everysec' }, 'warn fsync_everysec'],
    ['a file that is not synced while it is rewritten', { unsyncedRewrite: true }, 'warn fsync_on_rewrite'],
    ['eviction of keys', { evictionPolicy: 'allkeys-lru' }, 'refuse eviction'],
    ['fewer replicas than required', { minReplicasToWrite: 0 }, 'refuse min_replicas'],
    ['no memory limit', { maxMemoryBytes: 0 }, 'warn no_memory_limit'],
  ])('reports %s with a corrective action', (_what, fault, finding) => {
    expect(found({ ...safe, ...fault })).toEqual([finding]);
    expect(checkRedis({ ...safe, ...fault }, wishes)[0]?.fix).toMatch(/^(Set|Run) /);
  });

  it('requires replicas and a memory limit only as configured', () => {
    expect(found({ ...safe, minReplicasToWrite: 0 }, { ...wishes, minReplicas: 0 })).toEqual([]);
    expect(found({ ...safe, maxMemoryBytes: 0 }, { ...wishes, memoryLimitBytes: 1e9 })).toEqual([]);
  });

  it('reports unavailable settings as a warning, never as a refusal', () => {
    expect(checkRedis({}, wishes)).toMatchObject([
      {
        code: 'untold',
        severity: 'warn',
        what: 'Redis does not report its version, appendonly, appendfsync, maxmemory-policy, maxmemory, min-replicas-to-write',
      },
    ]);
  });
});

describe('a real Redis', () => {
  let redis: Redis;
  afterAll(async () => void (await redis.quit()));
  const servers = useServers();
  beforeAll(() => {
    redis = new Redis(servers.redisUrl, { disconnectTimeout: 50 });
    redis.on('error', () => undefined);
  });
  const set = (...settings: string[]) => redis.call('CONFIG', 'SET', ...settings);
  const ready = () => requireWritable(redis, 0);

  it('reports its configuration', async () => {
    await set('maxmemory', '500mb');

    expect(await readRedisFacts(redis)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      appendOnly: true,
      fsync: 'always',
      unsyncedRewrite: false,
      evictionPolicy: 'noeviction',
      maxMemoryBytes: 500 * 1024 * 1024,
      minReplicasToWrite: 0,
    });

    await set('maxmemory', '0');
  });

  it('reports the configuration from INFO where CONFIG is forbidden', async () => {
    await redis.call('ACL', 'SETUSER', 'plain', 'on', '>secret', '~*', '+@all', '-config');
    const plain = new Redis(servers.redisUrl, { username: 'plain', password: 'secret' });

    const facts = await readRedisFacts(plain);

    expect(facts).toEqual({
      version: expect.any(String),
      appendOnly: true,
      evictionPolicy: 'noeviction',
      maxMemoryBytes: 0,
    });
    expect(checkRedis(facts, { minReplicas: 0, memoryLimitBytes: 1e9 })).toMatchObject([
      { code: 'untold', what: 'Redis does not report appendfsync' },
    ]);
    await plain.quit();
  });

  it('accepts writes', async () => {
    await expect(ready()).resolves.toBeUndefined();
  });

  it('is not ready while its memory is full', async () => {
    await set('maxmemory', '100kb');

    await expect(ready()).rejects.toThrow('refuses writes: its memory is full');

    await set('maxmemory', '0');
    await ready();
  });

  it('is not ready while it cannot save to its disk, and recovers afterwards', async () => {
    await set('save', '3600 1000000');
    const repairSaving = await breakSaving(redis);

    await expect(ready()).rejects.toThrow('refuses writes: it cannot save to its disk');
    await expect(redis.set('a', 1)).rejects.toThrow('MISCONF');

    await repairSaving();
    await ready();
    await set('save', '');
  });

  it('is not ready as a replica, or with fewer replicas than required', async () => {
    await expect(requireWritable(redis, 1)).resolves.toBeUndefined(); // Replicas are not counted unless min-replicas-to-write is set.
    await set('min-replicas-to-write', '1');
    await expect(requireWritable(redis, 1)).rejects.toThrow('refuses writes: too few replicas keep up');
    await set('min-replicas-to-write', '0');

    await redis.call('REPLICAOF', '127.0.0.1', '1');
    await expect(ready()).rejects.toThrow('refuses writes: it is a replica');
    await redis.call('REPLICAOF', 'NO', 'ONE');
    await ready();
  });

  it('that is unreachable makes the check fail', async () => {
    const impatient = new Redis(servers.redisUrl, { maxRetriesPerRequest: 0, commandTimeout: 300 });
    impatient.on('error', () => undefined);
    await impatient.ping();
    await servers.redis.kill();

    await expect(readRedisFacts(impatient)).rejects.toThrow();
    await expect(requireWritable(impatient, 0)).rejects.toThrow();

    await servers.redis.start();
    impatient.disconnect();
  });
});
