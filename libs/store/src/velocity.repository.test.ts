import { findKeyName, keys } from './keys';
import { useStore } from './store.testing';

describe('windows of velocity rules', () => {
  const use = useStore();
  const nowMs = 1_000_000;
  const minute = 60_000;
  /** What kernels leave of windows in which one request each was counted just now. */
  const fill = async (ruleId: string, names: readonly string[]) => {
    const writing = use.redis.pipeline();
    for (const [i, name] of names.entries()) {
      writing.zadd(keys.velocity(ruleId, name), String(nowMs - 1), `job-${name}`);
      writing.zadd(keys.velocityWindows(ruleId), String(nowMs + minute - 1 + i), name);
    }
    await writing.exec();
  };
  const read = (...rules: string[]) => use.store.velocity.windows(new Map(rules.map((id) => [id, minute])), nowMs);

  it('are returned for the requested rules that have any', async () => {
    await fill('a', ['x', 'y']);
    await fill('b', ['z']);
    await use.redis.zadd(keys.velocity('a', 'y'), String(nowMs - minute), 'job-y');

    expect(await read('a', 'none')).toEqual({
      windows: [{ ruleId: 'a', count: 1, newestJob: 'job-x' }],
      isWhole: true,
    });
    expect(await read()).toEqual({ windows: [], isWhole: true });
  });

  it('are limited to the most recently used; no rule displaces those of another', async () => {
    const names = Array.from({ length: 1_200 }, (_, i) => `w${i}`);
    await fill('many', names);
    await fill('one', ['z']);

    const { windows, isWhole } = await read('many', 'one');

    expect(isWhole).toBe(false);
    expect(windows.filter(({ ruleId }) => ruleId === 'one')).toHaveLength(1);
    const seen = windows.map(({ newestJob }) => newestJob);
    expect(seen).toContain('job-w1199');
    expect(seen).not.toContain('job-w0');
    expect(windows).toHaveLength(1_001);
  });
});

describe('throttled submissions', () => {
  const use = useStore();
  const hour = 3_600_000;
  const nowMs = 1_000 * hour + 30_000;

  it('are counted per minute since a time, for their tenant and in total', async () => {
    const { velocity } = use.store;
    await velocity.countThrottled('acme', 'slow:er', nowMs - 25 * hour);
    await velocity.countThrottled('acme', 'slow:er', nowMs - hour);
    await velocity.countThrottled('acme', 'slow:er', nowMs - 2);
    await velocity.countThrottled('acme', 'slow:er', nowMs - 1);
    await velocity.countThrottled('globex', 'slow:er', nowMs);

    const ofTenant = await velocity.throttled('acme', nowMs - 24 * hour, nowMs);

    expect(ofTenant).toEqual([
      { ruleId: 'slow:er', atMs: nowMs - hour, count: 1 },
      { ruleId: 'slow:er', atMs: nowMs - 1, count: 2 },
    ]);
    const ofAll = await velocity.throttled('*', nowMs - 24 * hour, nowMs);
    expect(ofAll.map(({ count }) => count)).toEqual([1, 3]);
    expect(await velocity.throttled('initech', nowMs - 24 * hour, nowMs)).toEqual([]);
    for (const key of await use.redis.keys('svc:velocity-throttled:*')) {
      expect(findKeyName(key)).toBe('velocityThrottled');
      expect(await use.redis.ttl(key)).toBeGreaterThan(25 * 3_600);
    }
  });
});
