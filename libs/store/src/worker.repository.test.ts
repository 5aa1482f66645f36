import { keys, type Admission, type EchoMode } from './index';
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
  const join = (id: string, max: number, nowMs = 10 * minute) => use.store.workers.addLiveWorker(id, nowMs, max);

  it('are limited under concurrent registration', async () => {
    const joined = await Promise.all(Array.from({ length: 20 }, (_, i) => join(`w${i}`, 3)));

    expect(joined.filter(Boolean)).toHaveLength(3);
    expect(await use.redis.zcard(keys.liveWorkers())).toBe(3);
  });

  it('keep their place at the limit, and free it when they leave or are silent for two minutes', async () => {
    await join('a', 2);
    await join('b', 2);

    expect(await join('a', 2)).toBe(true);
    expect(await join('c', 2)).toBe(false);
    await use.store.workers.removeLiveWorker('b');
    expect(await join('c', 2)).toBe(true);
    expect(await join('d', 2, 13 * minute)).toBe(true);
  });

  it.each([0, -1])('are unlimited when the license limit is %s', async (max) => {
    for (const id of ['a', 'b', 'c']) expect(await join(id, max)).toBe(true);
  });
});

describe('calls without urgency', () => {
  const countCalls = async () =>
    Number(/cmdstat_fcall:calls=(\d+)/.exec(await use.redis.info('commandstats'))?.[1] ?? 0);

  it('of many workers share one call of Redis, and do what the others do', async () => {
    const { workers } = use.store;
    const ids = Array.from({ length: 10 }, (_, i) => `w${i}`);
    await workers.addLiveWorker('w0', 10 * minute, 1);
    await workers.keepEcho('w0', 'announce', ['b1'], minute);
    await use.redis.sadd(keys.workerInFlight('w1'), 'j1', 'j2');
    const before = await countCalls();

    const read = ids.map((id) => workers.inFlightSoon(id));
    const echoes = ids.map((id) => workers.renewEcho(id, 'keep', 'b1', minute));
    await Promise.all(ids.map((id) => workers.renewLiveWorker(id, 11 * minute)));

    expect((await Promise.all(read)).map((jobs) => jobs.sort())).toEqual(
      ids.map((id) => (id === 'w1' ? ['j1', 'j2'] : [])),
    );
    expect(await Promise.all(echoes)).toEqual(ids.map((id) => id === 'w0'));
    // A worker that is known is never refused, whatever the limit.
    expect(await use.redis.zcount(keys.liveWorkers(), 11 * minute, '+inf')).toBe(10);
    expect((await countCalls()) - before).toBe(1);
  });
});

describe('the record of worker processes that send dispatch ids', () => {
  const keep = (mode: EchoMode, ...boots: string[]) => use.store.workers.keepEcho('w1', mode, boots, minute);
  const ttlMs = () => use.redis.pttl(keys.workerEchoes('w1'));
  /** As if almost all of the time had passed. */
  const age = () => use.redis.pexpire(keys.workerEchoes('w1'), 10_000);

  it('is renewed only by the heartbeats of those processes, and reset by none', async () => {
    expect(await keep('keep', 'b1')).toBe(false);
    expect(await keep('announce', 'b1')).toBe(true);
    await age();

    expect(await keep('keep', 'b2')).toBe(true);
    expect(await ttlMs()).toBeLessThanOrEqual(10_000);
    expect(await keep('keep', 'b1')).toBe(true);
    expect(await ttlMs()).toBeGreaterThan(10_000);
  });

  it('is created by a report only when no live process has one', async () => {
    expect(await keep('learn', 'b1', '')).toBe(true);
    expect(await keep('learn', 'b2')).toBe(true);

    expect((await use.redis.smembers(keys.workerEchoes('w1'))).sort()).toEqual(['', 'b1']);
    expect(await use.store.workers.echoesDispatch('w1')).toBe(true);
    expect(await use.store.workers.echoesDispatch('w2')).toBe(false);
  });

  it('keeps a bounded number, and an announcement renews the record even when it is full', async () => {
    for (let i = 0; i < 20; i += 1) await keep('announce', `b${i}`);
    await age();

    expect(await keep('announce', 'b20')).toBe(true);

    expect(await use.redis.scard(keys.workerEchoes('w1'))).toBe(8);
    expect(await ttlMs()).toBeGreaterThan(10_000);
  });
});

describe('slots', () => {
  it('of jobs that are not in flight, missing or with another worker are released; the others are kept', async () => {
    for (const id of ['held', 'done', 'moved']) await use.accept(id);
    await use.store.jobs.admit('held', admission());
    await use.store.jobs.admit('done', admission());
    await use.store.jobs.move('*', 'done', 'succeed');
    await use.store.jobs.admit('moved', admission({ worker: { id: 'w2', pool: 'p', max: 1 } }));
    const strays = ['done', 'unknown'];
    await use.redis.sadd(keys.workerInFlight('w1'), ...strays, 'moved');
    await use.redis.sadd(keys.allInFlight(), ...strays);

    expect(await use.store.workers.freeWorkerSlots('w1')).toBe(3);
    expect(await use.store.workers.freeLicenseSlots()).toBe(2);

    expect(await use.store.workers.inFlight('w1')).toEqual(['held']);
    expect((await use.redis.smembers(keys.allInFlight())).sort()).toEqual(['held', 'moved']);
  });

  it('are checked in bounded batches', async () => {
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
