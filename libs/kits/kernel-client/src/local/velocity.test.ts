import { startRedis, type TestServer } from '@svc/testing';
import { findKeyName } from '@svc/store';
import { Redis } from 'ioredis';
import { velocityWindows, type Velocity } from './velocity';

describe('velocity windows in Redis', () => {
  let server: TestServer;
  let redis: Redis;
  let velocity: Velocity;
  const seen: string[] = [];
  const problems: unknown[] = [];
  const of = (member: string | undefined, over: Partial<{ key: string; windowSeconds: number }> = {}) => ({
    ruleId: 'pace',
    key: 'acme',
    windowSeconds: 60,
    maxRequests: 2,
    member,
    ...over,
  });

  const windows = () => redis.keys('svc:velocity:*');
  const onlyKey = async () => (await windows())[0] ?? '';
  const remembered = 'svc:velocity-windows:pace';

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url, { maxRetriesPerRequest: 1, commandTimeout: 500, disconnectTimeout: 50 });
    redis.on('error', () => undefined);
    const events = {
      velocityChecked: (rule: string, result: string) => void seen.push(`${rule} ${result}`),
      failed: (_what: string, error: unknown) => void problems.push(error),
    };
    velocity = velocityWindows(redis, events, () => performance.now());
  });
  beforeEach(async () => {
    await redis.flushall();
    seen.length = 0;
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('returns a stable position per job, and whether the limit is exceeded', async () => {
    const counts = [];
    for (const member of ['a', 'b', 'a', 'c']) counts.push(await velocity.count(of(member)));

    expect(counts.map((answer) => answer.kind === 'count' && answer.count)).toEqual([1, 2, 1, 3]);
    expect(seen).toEqual(['pace within', 'pace within', 'pace within', 'pace over']);
  });

  it('counts each request without a job', async () => {
    await velocity.count(of(undefined));

    expect(await velocity.count(of(undefined))).toEqual({ kind: 'count', count: 2 });
  });

  it('keeps keys separate, for two windows and a minute, under a declared key', async () => {
    await velocity.count(of('a'));
    await velocity.count(of('a', { key: 'other' }));

    const keys = [...(await windows()), remembered];

    expect(keys.map((key) => findKeyName(key))).toEqual(['velocity', 'velocity', 'velocityWindows']);
    expect(keys.join()).not.toContain('acme');
    for (const key of keys) {
      const ttlMs = await redis.pttl(key);
      expect(ttlMs).toBeGreaterThan(120_000);
      expect(ttlMs).toBeLessThanOrEqual(180_000);
    }
  });

  it('tracks non-empty windows and removes expired ones', async () => {
    await velocity.count(of('a'));
    await velocity.count(of('b'));
    await velocity.count(of('a', { key: 'other' }));
    const hashes = (await windows()).map((key) => key.slice('svc:velocity:pace:'.length));
    expect((await redis.zrange(remembered, '0', '-1')).sort()).toEqual(hashes.sort());

    const [first = '', second = ''] = await redis.zrange(remembered, '0', '-1');
    await redis.zincrby(remembered, '-180001', first);
    await velocity.count(of('a', { key: 'third' }));

    const left = await redis.zrange(remembered, '0', '-1');
    expect(left).toHaveLength(2);
    expect(left).toContain(second);
    expect(left).not.toContain(first);
  });

  it('renews the expiry of a window when a request leaves it', async () => {
    await velocity.count(of('a'));
    const [window = ''] = await windows();
    await redis.pexpire(window, 5_000);
    await redis.del(remembered);

    await velocity.count(of('b'));
    expect(await redis.pttl(window)).toBeLessThanOrEqual(5_000);
    await redis.zadd(window, String(Date.now() - 61_000), 'old');
    await velocity.count(of('c'));

    expect(await redis.pttl(window)).toBeGreaterThan(120_000);
    expect(await redis.zcard(remembered)).toBe(1);
  });

  it('tracks the newest of many windows', async () => {
    const filled = Array.from({ length: 10_000 }, (_, i) => [String(Date.now() + 1_000 + i), `w${i}`]).flat();
    await redis.zadd(remembered, ...filled);

    await velocity.count(of('a'));

    expect(await redis.zcard(remembered)).toBe(10_000);
    expect(await redis.zscore(remembered, 'w0')).toBeNull();
    expect(await redis.zscore(remembered, 'w1')).not.toBeNull();
  });

  it('a lookup returns the result of counting and writes nothing', async () => {
    await velocity.count(of('a'));
    const before = await redis.zrange(await onlyKey(), '0', '-1', 'WITHSCORES');

    expect(await velocity.look(of('b'))).toEqual({ kind: 'count', count: 2 });
    expect(await velocity.look(of('a'))).toEqual({ kind: 'count', count: 1 });
    expect(await velocity.look(of('b', { key: 'never' }))).toEqual({ kind: 'count', count: 1 });
    expect(await windows()).toHaveLength(1);
    expect(await redis.zcard(remembered)).toBe(1);
    expect(await redis.zrange(await onlyKey(), '0', '-1', 'WITHSCORES')).toEqual(before);
  });

  it('requests older than the window do not count', async () => {
    await velocity.count(of('a'));
    const window = await onlyKey();
    await redis.zincrby(window, '-60001', 'a');

    expect(await velocity.look(of('b'))).toEqual({ kind: 'count', count: 1 });
    expect(await velocity.count(of('b'))).toEqual({ kind: 'count', count: 1 });
    expect(await redis.zrange(window, '0', '-1')).toEqual(['b']);
  });

  it('concurrent requests are each counted', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => velocity.count(of(`job-${i}`))));

    const counts = answers.map((answer) => (answer.kind === 'count' ? answer.count : 0)).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });

  it('a request that leaves the window moves those after it forward', async () => {
    for (const member of ['a', 'b', 'c']) await velocity.count(of(member));
    await redis.zincrby(await onlyKey(), '-60001', 'a');

    expect(await velocity.look(of('c'))).toEqual({ kind: 'count', count: 2 });
    expect(await velocity.count(of('c'))).toEqual({ kind: 'count', count: 2 });
    expect(await velocity.count(of('a'))).toEqual({ kind: 'count', count: 3 });
  });

  it('a new request is ordered last, also after the clock was set back', async () => {
    await velocity.count(of('b'));
    await redis.zincrby(await onlyKey(), '10000', 'b');

    expect(await velocity.count(of('a'))).toEqual({ kind: 'count', count: 2 });
    expect(await velocity.count(of('c'))).toEqual({ kind: 'count', count: 3 });
    expect(await velocity.count(of('b'))).toEqual({ kind: 'count', count: 1 });
    expect(await velocity.look(of('a'))).toEqual({ kind: 'count', count: 2 });
  });

  it('fails when Redis is unavailable', async () => {
    await server.kill();

    expect(await velocity.count(of('a'))).toEqual({ kind: 'unavailable' });
    expect(problems.length).toBeGreaterThan(0);
    await server.start();
  });
});
