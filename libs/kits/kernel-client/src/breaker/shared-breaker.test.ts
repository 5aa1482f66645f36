import { startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { openMs } from './breaker.states';
import { SharedBreaker } from './shared-breaker';

describe('a breaker shared through Redis', () => {
  let server: TestServer;
  let redis: Redis;
  let nowMs = 1_000_000;
  const moves: string[] = [];
  const problems: unknown[] = [];
  const events = {
    breakerMoved: (name: string, state: string) => void moves.push(`${name} ${state}`),
    failed: (_what: string, error: unknown) => void problems.push(error),
  };
  const process = () => new SharedBreaker('input', redis, () => nowMs, events);
  const fail = async (breaker: SharedBreaker) => {
    const permit = await breaker.permit();
    if (permit !== 'refused') await breaker.settle(permit, 'failed');
    return permit;
  };

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url, { maxRetriesPerRequest: 1, commandTimeout: 500, disconnectTimeout: 50 });
    redis.on('error', () => undefined);
  });
  beforeEach(async () => {
    await server.start();
    await redis.flushall();
    moves.length = problems.length = 0;
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('failures of several processes open it for all of them', async () => {
    const [one, two, three] = [process(), process(), process()];

    for (const breaker of [one, two, three]) await fail(breaker);
    nowMs += 1_000;

    expect(await Promise.all([one.permit(), two.permit(), three.permit()])).toEqual(['refused', 'refused', 'refused']);
    expect(await two.status()).toEqual({
      state: 'open',
      failures: 3,
      fail_threshold: 3,
      cooldown_remaining_ms: 29_000,
    });
  });

  it('permits three concurrent probes across processes, and closes after two successes', async () => {
    const all = Array.from({ length: 8 }, process);
    for (const breaker of all.slice(0, 3)) await fail(breaker);
    nowMs += openMs;

    const permits = await Promise.all(all.map((breaker) => breaker.permit()));
    const probing = all.filter((_, i) => permits[i] === 'probe');
    await Promise.all(probing.slice(0, 2).map((breaker) => breaker.settle('probe', 'answered')));
    nowMs += 1_000;

    expect(permits.filter((permit) => permit === 'probe')).toHaveLength(3);
    expect(await all[7]?.permit()).toBe('normal');
    expect(await all[0]?.status()).toMatchObject({ state: 'closed', failures: 0, cooldown_remaining_ms: 0 });
  });

  it('writes nothing for a healthy kernel', async () => {
    const breaker = process();

    for (let i = 0; i < 20; i++) {
      const permit = await breaker.permit();
      if (permit !== 'refused') await breaker.settle(permit, 'answered');
    }

    expect(await redis.keys('*')).toEqual([]);
    expect(moves).toEqual([]);
  });

  it('opens while Redis is unavailable', async () => {
    const breaker = process();
    await breaker.permit();
    await server.kill();

    for (let i = 0; i < 3; i++) await fail(breaker);

    expect(await breaker.permit()).toBe('refused');
    expect(moves).toEqual(['input open']);
    expect(problems.length).toBeGreaterThan(0);
  });
});
