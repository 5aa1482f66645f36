import { keys, type Admission } from './index';
import { useStore } from './store.testing';

const use = useStore();
const minute = 60_000;

const admission = (over: Partial<Admission> = {}): Admission => ({
  lane: { id: 'job.default', spec: '{}', level: 2 },
  worker: { id: 'w1', pool: 'p', max: 10 },
  dispatchId: 'd1',
  reason: 'no_workers',
  runMs: minute,
  deadlineMs: 0,
  tenantCap: 0,
  licenseCap: 100,
  waitMs: minute,
  set: {},
  ...over,
});

describe('live workers', () => {
  const join = (id: string, most: number, nowMs = 10 * minute) => use.store.workers.joinLive(id, nowMs, most);

  it('of many that come at once, as many join as may', async () => {
    const joined = await Promise.all(Array.from({ length: 20 }, (_, i) => join(`w${i}`, 3)));

    expect(joined.filter(Boolean)).toHaveLength(3);
    expect(await use.redis.zcard(keys.liveWorkers())).toBe(3);
  });

  it('stay when they are full, and make room when they leave or are silent for two minutes', async () => {
    await join('a', 2);
    await join('b', 2);

    expect(await join('a', 2)).toBe(true);
    expect(await join('c', 2)).toBe(false);
    await use.store.workers.dropLive('b');
    expect(await join('c', 2)).toBe(true);
    expect(await join('d', 2, 13 * minute)).toBe(true);
  });

  it.each([0, -1])('are any number when the license says %s', async (most) => {
    for (const id of ['a', 'b', 'c']) expect(await join(id, most)).toBe(true);
  });
});

describe('slots', () => {
  it('of jobs that are not in flight, not there or with another worker are given back; the others stay', async () => {
    for (const id of ['held', 'done', 'moved']) await use.accept(id);
    await use.store.jobs.admit('held', admission());
    await use.store.jobs.admit('done', admission());
    await use.store.jobs.move('*', 'done', 'succeed');
    await use.store.jobs.admit('moved', admission({ worker: { id: 'w2', pool: 'p', max: 1 } }));
    const strays = ['done', 'nobody'];
    await use.redis.sadd(keys.workerInFlight('w1'), ...strays, 'moved');
    await use.redis.sadd(keys.allInFlight(), ...strays);

    expect(await use.store.workers.freeWorkerSlots('w1')).toBe(3);
    expect(await use.store.workers.freeLicenseSlots()).toBe(2);

    expect(await use.store.workers.inFlight('w1')).toEqual(['held']);
    expect((await use.redis.smembers(keys.allInFlight())).sort()).toEqual(['held', 'moved']);
  });

  it('of any number of jobs are looked at in bounded steps', async () => {
    const strays = Array.from({ length: 1_201 }, (_, i) => `j${i}`);
    await use.redis.sadd(keys.allInFlight(), ...strays);

    expect(await use.store.workers.freeLicenseSlots()).toBe(1_201);
  });
});

describe('a dispatch that was rolled back', () => {
  it('counts as the same attempt when it is repeated, and as the next one when it is not', async () => {
    await use.accept('j');
    await use.store.jobs.admit('j', admission());
    await use.store.jobs.move('*', 'j', 'rollBack');

    expect(await use.store.jobs.admit('j', admission({ isRepeat: true }))).toEqual({ kind: 'dispatched', attempt: 1 });
    await use.store.jobs.move('*', 'j', 'rollBack');
    expect(await use.store.jobs.admit('j', admission({ dispatchId: 'd2' }))).toEqual({
      kind: 'dispatched',
      attempt: 2,
    });
  });
});
