import fc from 'fast-check';
import { keys } from './keys';
import type { LockMode, LockRecord } from './lock.repository';
import { useStore } from './store.testing';

const use = useStore();
const locks = () => use.store.locks;
const acquire = (owner: string, mode: LockMode = 'exclusive', ttlMs = 60_000, resource = 'r', tenant = 'acme') =>
  locks().acquire(tenant, resource, owner, mode, ttlMs);
const token = (lock: LockRecord | undefined, owner: string) =>
  lock?.owners.find((one) => one.owner === owner)?.token ?? 0;
/** Expires an owner, as if its time had passed. */
const expire = async (owner: string) => {
  const key = keys.lock('acme', 'r');
  const held = await use.redis.hget(key, `o:${owner}`);
  if (held) await use.redis.hset(key, `o:${owner}`, held.replace(/:\d+$/, ':1'));
};

/** A lock as the contract describes it, without times. */
interface Model {
  mode: LockMode;
  counts: Map<string, number>;
}
type Step = readonly [act: 'acquire' | 'release' | 'renew' | 'expire', owner: string, mode: LockMode];

/** Applies a step to the model. @returns whether it succeeds */
function play(model: Model, [act, owner, mode]: Step): boolean {
  const { counts } = model;
  const held = counts.get(owner);
  if (act === 'expire') return counts.delete(owner);
  if (act === 'renew') return held !== undefined;
  if (act === 'release') {
    if (held === undefined) return false;
    if (held === 1) counts.delete(owner);
    else counts.set(owner, held - 1);
    return true;
  }
  const others = counts.size - (held === undefined ? 0 : 1);
  if (others > 0 && (mode === 'exclusive' || model.mode === 'exclusive')) return false;
  if (counts.size === 0 || mode === 'exclusive') model.mode = mode;
  counts.set(owner, (held ?? 0) + 1);
  return true;
}

async function perform([act, owner, mode]: Step): Promise<LockRecord | 'freed' | undefined> {
  switch (act) {
    case 'acquire':
      return acquire(owner, mode);
    case 'release':
      return locks().release('acme', 'r', owner);
    case 'renew':
      return locks().renew('acme', 'r', owner, 60_000);
    case 'expire':
      await expire(owner);
      return undefined;
  }
}

describe('a lock', () => {
  const step = fc.tuple(
    fc.constantFrom('acquire', 'acquire', 'release', 'renew', 'expire'),
    fc.constantFrom('a', 'b', 'c'),
    fc.constantFrom('exclusive', 'shared'),
  ) as fc.Arbitrary<Step>;

  it('agrees with the model after any steps, and every new holding has a greater token', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        await use.redis.del(keys.lock('acme', 'r'));
        const model: Model = { mode: 'exclusive', counts: new Map() };
        let newest = 0;
        for (const one of steps) {
          const before = new Map(model.counts);
          const modeBefore = model.mode;
          const isGranted = play(model, one);
          const answer = await perform(one);
          if (one[0] !== 'expire') expect(answer !== undefined).toBe(isGranted);
          const lock = await locks().read('acme', 'r');
          const counts = (lock?.owners ?? []).map(({ owner, count }) => [owner, count]);
          expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(model.counts));
          if (lock) expect(lock.mode).toBe(model.mode);
          if (one[0] !== 'acquire' || !isGranted) continue;
          const isNew = !before.has(one[1]) || modeBefore !== model.mode;
          const given = token(lock, one[1]);
          if (isNew) expect(given).toBeGreaterThan(newest);
          newest = Math.max(newest, given);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is acquired by one of many concurrent owners', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => acquire(`owner-${i}`)));

    expect(answers.filter(Boolean)).toHaveLength(1);
  });

  it('has a greater token than every earlier one after its release, its expiry and the loss of the store’s token', async () => {
    const first = token(await acquire('a'), 'a');
    await locks().release('acme', 'r', 'a');
    const second = token(await acquire('a'), 'a');
    await expire('a');
    const third = token(await acquire('b'), 'b');
    await use.redis.del(keys.lockTokens(), keys.lock('acme', 'r'));
    const fourth = token(await acquire('a'), 'a');

    expect([first, second, third, fourth]).toEqual([first, second, third, fourth].sort((x, y) => x - y));
    expect(new Set([first, second, third, fourth]).size).toBe(4);
  });

  it('keeps the token of an owner that acquires it again, and replaces it when the lock becomes exclusive', async () => {
    const shared = token(await acquire('a', 'shared'), 'a');
    const other = token(await acquire('b', 'shared'), 'b');
    expect(token(await acquire('a', 'shared'), 'a')).toBe(shared);
    expect(await acquire('a', 'exclusive')).toBeUndefined();
    await locks().release('acme', 'r', 'b');

    const exclusive = await acquire('a', 'exclusive');

    expect(exclusive).toMatchObject({ mode: 'exclusive', owners: [{ owner: 'a', count: 3 }] });
    expect(token(exclusive, 'a')).toBeGreaterThan(other);
  });

  it('expires with its last owner, and each owner by its own time', async () => {
    await acquire('a', 'shared', 60_000);
    const joined = await acquire('b', 'shared', 30_000);
    expect(joined?.owners).toHaveLength(2);
    expect(await use.redis.pttl(keys.lock('acme', 'r'))).toBeGreaterThan(50_000);

    await expire('a');
    expect((await locks().renew('acme', 'r', 'b', 2_000))?.owners).toMatchObject([{ owner: 'b' }]);

    expect(await use.redis.pttl(keys.lock('acme', 'r'))).toBeLessThanOrEqual(2_000);
    expect(await locks().renew('acme', 'r', 'a', 2_000)).toBeUndefined();
    expect(await locks().release('acme', 'r', 'a')).toBeUndefined();
  });

  it('belongs to its tenant', async () => {
    await acquire('a');

    expect(await acquire('b', 'exclusive', 60_000, 'r', 'globex')).toMatchObject({ owners: [{ owner: 'b' }] });
    expect(await locks().read('acme', 'r')).toMatchObject({ owners: [{ owner: 'a' }] });
  });

  it('has at most 1,000 owners', async () => {
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => acquire(`o${i}`, 'shared')));

    expect(await acquire('one more', 'shared')).toBeUndefined();
    expect((await acquire('o7', 'shared'))?.owners).toHaveLength(1_000);
  });
});

describe('the listing of locks', () => {
  it('has leases and locks with their owners, and rate limits without content, up to a maximum', async () => {
    await use.redis.set('svc:reconciler:default', 'scheduler-1', 'PX', 60_000);
    await use.redis.set('svc:scheduler:pool-drain', 'scheduler-2');
    await use.redis.set('svc:rl:x', 'secret', 'PX', 60_000);
    await use.redis.hset('svc:cb:kernel', 'state', 'open');
    await use.redis.set('svc:installation-is-no-lock', 'x');
    await acquire('ann');

    const { entries, isTruncated } = await locks().scan(500);

    expect(isTruncated).toBe(false);
    expect(entries.sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual([
      { key: 'svc:cb:kernel', holder: '', ttlMs: 0, type: 'circuit_breaker' },
      { key: 'svc:lock:acme:r', holder: 'ann', ttlMs: expect.any(Number), type: 'resource' },
      { key: 'svc:reconciler:default', holder: 'scheduler-1', ttlMs: expect.any(Number), type: 'reconciler' },
      { key: 'svc:rl:x', holder: '', ttlMs: expect.any(Number), type: 'rate_limit' },
      { key: 'svc:scheduler:pool-drain', holder: 'scheduler-2', ttlMs: 0, type: 'unknown' },
    ]);
    expect(await locks().scan(4)).toMatchObject({ isTruncated: true, entries: { length: 4 } });
  });
});
