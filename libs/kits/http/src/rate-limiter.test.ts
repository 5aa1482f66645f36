import { startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { cappedBy, rateLimiter, type RateLimit } from './rate-limiter';
import type { RateWindow } from './rate-windows';
import { startSurface } from './surface.fixture';

const allowed = async (limiter: ReturnType<typeof rateLimiter>, times: number, bucket = 'tenant:acme') => {
  const verdicts = await Promise.all(Array.from({ length: times }, () => limiter(bucket)));
  return verdicts.filter((verdict) => verdict.allowed).length;
};

describe('the rate limiter', () => {
  let store: TestServer;
  let redis: Redis;
  beforeAll(async () => {
    store = await startRedis();
    redis = new Redis(store.url);
    // One test stops Redis.
    redis.on('error', () => undefined);
    await redis.ping();
  });
  afterEach(() => redis.flushall());
  afterAll(async () => {
    redis.disconnect();
    await store.stop();
  });
  // Far longer windows than a test takes: what is counted must not depend on the speed of the machine.
  const slow = { rps: 1, burst: 50 };

  describe.each(['memory', 'shared'])('%s', (mode) => {
    const open = (limit: () => RateLimit) =>
      rateLimiter({
        ...(mode === 'shared' && { redis }),
        keyPrefix: 'svc:rl',
        limit,
        nowMs: () => 1_000_000,
      });

    it('permits a burst per bucket and no more', async () => {
      const limiter = open(() => slow);

      // One or two more when the first second ends during the test.
      const passed = await allowed(limiter, 80);
      expect(passed).toBeGreaterThanOrEqual(50);
      expect(passed).toBeLessThan(55);
      expect(await allowed(limiter, 10, 'tenant:other')).toBe(10);
    });

    it('returns limit, remaining, reset and retry delay', async () => {
      const limiter = open(() => ({ rps: 2, burst: 2 }));

      expect((await limiter('tenant:a')).headers).toEqual({
        'X-RateLimit-Limit': '2',
        'X-RateLimit-Remaining': '1',
        'X-RateLimit-Reset': '1001',
      });
      await allowed(limiter, 20, 'tenant:a');
      const { headers } = await limiter('tenant:a');
      expect(headers).toMatchObject({ 'X-RateLimit-Remaining': expect.stringMatching(/^[01]$/) as string });
    });

    it('applies a changed limit immediately', async () => {
      let limit = { rps: 1, burst: 1 };
      const limiter = open(() => limit);
      await allowed(limiter, 5);

      limit = { rps: 1_000, burst: 2_000 };

      expect(await allowed(limiter, 500)).toBe(500);
    });
  });

  describe.each(['memory', 'shared'])('windows of a bucket’s own, %s', (mode) => {
    const generous = { rps: 10_000, burst: 20_000 };
    let nowMs = 1_000_000;
    const open = (windows: (bucket: string) => RateWindow[]) =>
      rateLimiter({
        ...(mode === 'shared' && { redis }),
        keyPrefix: 'svc:rl',
        limit: () => generous,
        windows: async (bucket) => windows(bucket),
        nowMs: () => nowMs,
      });
    beforeEach(() => (nowMs = 1_000_000));

    it('permit what each allows, per bucket', async () => {
      const own = [{ points: 7, sec: 60 }, { points: 5, sec: 3_600 }];
      const limiter = open((bucket) => (bucket === 'tenant:acme' ? own : []));

      expect(await allowed(limiter, 20)).toBe(5);
      expect(await allowed(limiter, 40, 'tenant:other')).toBe(40);
    });

    it('return the remaining requests of the tightest, and the retry delay', async () => {
      const limiter = open(() => [{ points: 2, sec: 60 }]);

      const verdicts = [await limiter('tenant:a'), await limiter('tenant:a'), await limiter('tenant:a')];

      expect(verdicts.map(({ allowed: passed, headers }) => [passed, headers['X-RateLimit-Remaining']])).toEqual([[true, '1'], [true, '0'], [false, '0']]);
      expect(verdicts[2]?.headers).toMatchObject({ 'X-RateLimit-Limit': '2', 'Retry-After': expect.stringMatching(/^(5\d|60)$/) as string });
    });

    it('requests rejected by one do not consume the others', async () => {
      const windows = [{ points: 3, sec: 60 }, { points: 50, sec: 3_600 }];
      const limiter = open(() => windows);
      await allowed(limiter, 3);

      for (let i = 0; i < 100; i++) expect((await limiter('tenant:acme')).allowed).toBe(false);

      // Counters in memory go with the windows they are of.
      if (mode === 'memory') return;
      windows[0] = { points: 100, sec: 90 };
      expect(await allowed(limiter, 60)).toBe(50 - 4);
    });

    it('a changed window keeps the count of one with the same length', async () => {
      let points = 10;
      const limiter = open(() => [{ points, sec: 60 }]);
      await allowed(limiter, 10);

      points = 15;

      expect(await allowed(limiter, 20)).toBe(mode === 'shared' ? 5 : 15);
    });

    it('lease from a high limit in blocks, and lose at most one', async () => {
      const limiter = open(() => [{ points: 60_000, sec: 60 }]);

      expect(await allowed(limiter, 500)).toBe(500);

      if (mode === 'memory') return;
      const key = 'svc:rl:60s:tenant:acme';
      expect(Number(await redis.get(key))).toBeLessThanOrEqual(520);
      expect((await redis.keys('*')).every((one) => one.startsWith('svc:rl:'))).toBe(true);
    });
  }); // prettier-ignore

  it('replicas share one bucket', async () => {
    const replica = () => rateLimiter({ redis, keyPrefix: 'svc:rl', limit: () => slow, nowMs: () => Date.now() });
    const [a, b] = [replica(), replica()];

    const passed = (await allowed(a, 40)) + (await allowed(b, 40));

    expect(passed).toBeGreaterThanOrEqual(50);
    expect(passed).toBeLessThan(55);
    expect((await redis.keys('*')).every((key) => key.startsWith('svc:rl:'))).toBe(true);
  });

  it('a license caps rate and burst; 0 and unlimited do not', () => {
    const configured = { rps: 2_000, burst: 4_000 };

    expect(cappedBy(configured, 500)).toEqual({ rps: 500, burst: 1_000 });
    expect(cappedBy({ rps: 100, burst: 4_000 }, 500)).toEqual({ rps: 100, burst: 1_000 });
    expect([cappedBy(configured, 0), cappedBy(configured, -1)]).toEqual([configured, configured]);
  });

  describe('in the request pipeline', () => {
    const counting = (seen: string[], open: boolean) => async (bucket: string) => {
      seen.push(bucket);
      return { allowed: open, headers: { 'X-RateLimit-Limit': '7', ...(!open && { 'Retry-After': '3' }) } };
    };

    it('tenants count by tenant, failed callers and public routes by address', async () => {
      const [api, open]: [string[], string[]] = [[], []];
      const surface = await startSurface({ rateLimits: { api: counting(api, true), open: counting(open, true) } });

      const { headers } = await surface.as('admin')('PUT', '/api/v1/notes/1', {});
      await surface.as('wrong')('PUT', '/api/v1/notes/1', {});
      await surface.send('GET', '/readyz');

      expect(headers.get('X-RateLimit-Limit')).toBe('7');
      expect(api).toEqual(['tenant:acme', 'ip:127.0.0.1']);
      expect(open).toEqual(['public:127.0.0.1']);
      await surface.close();
    });

    it('429 with Retry-After, before the body is read', async () => {
      const limiter = counting([], false);
      const surface = await startSurface({ rateLimits: { api: limiter, open: limiter } });

      for (const role of ['admin', 'wrong']) {
        const { status, body, headers } = await surface.as(role)('PUT', '/api/v1/notes/1', '{"bad');
        expect({ status, code: body['code'], wait: headers.get('Retry-After') }).toEqual({
          status: 429,
          code: 'rate_limited',
          wait: '3',
        });
      }
      await surface.close();
    });
  });

  it('while Redis is unavailable, rejects with Retry-After and reports it; counts again after recovery', async () => {
    const onStoreFailed = jest.fn();
    const limiter = rateLimiter({ redis, keyPrefix: 'svc:rl', limit: () => slow, nowMs: () => 0, onStoreFailed });
    const gone = new Promise((resolve) => redis.once('close', resolve));
    await store.kill();
    await gone;

    expect(await limiter('tenant:acme')).toMatchObject({ allowed: false, headers: { 'Retry-After': '1' } });

    expect(onStoreFailed).toHaveBeenCalledTimes(1);
    await store.start();
    await redis.ping();
    expect(await limiter('tenant:acme')).toMatchObject({ allowed: true });
    expect(onStoreFailed).toHaveBeenCalledTimes(1);
  });
});
