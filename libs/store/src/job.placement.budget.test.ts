import { plainRequest } from '@svc/testing';
import { buildKeys, type Placement, type Reservation } from './index';
import { useStore, waitingPlan } from './store.testing';

const shard = 's1';
const keys = buildKeys(shard);
const use = useStore({ shard });

const account = { account: 'tenant:acme', period: '2026-11-22' };
const asking = (micros: number, limit = 100): Reservation => ({
  micros,
  accounts: [{ ...account, limit, action: 'throttle', alerts: [], ttlSec: 600 }],
  run: { limit: 0, action: 'throttle' },
});
const worker = (max = 100) => ({ id: 'w1', pool: 'p', max });

/** Accepts a job with a placement, and returns its position. */
async function place(id: string, over: Partial<Placement>, fields: { run?: string } = {}): Promise<string> {
  const outcome = await use.store.jobs.accept({
    id,
    tenant: 'acme',
    traceId: id,
    topic: 'job.default',
    fields: { request: plainRequest, submitter: 'ann', job_hash: 'h', safety_snapshot: 's1', ...fields },
    context: '{}',
    priority: 10,
    activeLimit: 0,
    place: { snapshot: 's1', ...waitingPlan, otherLanes: [], mayWait: true, ...over },
  });
  return outcome.kind === 'accepted' ? outcome.placed.kind : outcome.kind;
}
const spending = async () => {
  const [found] = await use.store.spend.read([account]);
  return { reserved: found?.reserved, spent: found?.spent };
};

describe('the reservation of a job that the accepting call places', () => {
  beforeEach(() => use.redis.set(keys.policyInEffect(), 's1'));

  it('is made with its dispatch, and settled by its end', async () => {
    expect(await place('a', { worker: worker(), budget: asking(60) })).toBe('dispatched');

    expect(await spending()).toEqual({ reserved: 60, spent: 0 });
    await use.store.jobs.move('*', 'a', 'succeed', { set: { cost: 45 } });
    expect(await spending()).toEqual({ reserved: 0, spent: 45 });
    expect((await use.store.jobs.load('a'))?.reserved).toBeUndefined();
  });

  it('is made when it enters its lane, and kept when a new policy sends it back to be decided', async () => {
    expect(await place('a', { budget: asking(60) })).toBe('waiting');
    expect(await spending()).toEqual({ reserved: 60, spent: 0 });

    const lanes = ['job.default'];
    await use.store.jobs.claim({ worker: worker(), lanes, dispatchIds: ['1'], licenseCap: 0, snapshot: 's2' });
    expect(await use.store.jobs.load('a')).toMatchObject({ parked: '', lane: '' });
    expect(await use.store.spend.reserve('a', asking(60))).toEqual({ kind: 'reserved' });

    expect(await spending()).toEqual({ reserved: 60, spent: 0 });
    await use.store.jobs.move('*', 'a', 'cancel');
    expect(await spending()).toEqual({ reserved: 0, spent: 0 });
  });

  it('is refused beyond the limit: the job goes to the queue, and takes neither money nor a slot', async () => {
    await place('a', { worker: worker(), budget: asking(60) });

    expect(await place('b', { worker: worker(), budget: asking(41) })).toBe('queued');

    expect(await spending()).toEqual({ reserved: 60, spent: 0 });
    expect(await use.redis.smembers(keys.workerInFlight('w1'))).toEqual(['a']);
    expect(await use.redis.zrange(keys.queue('jobs', 'prioritized'), 0, '-1')).toEqual(['job-b-submit']);
    const job = await use.store.jobs.load('b');
    expect(job).toMatchObject({ state: 'PENDING', parked: '', lane: '' });
    expect(job).not.toMatchObject({ decided: expect.anything() as unknown });
    expect(job).not.toMatchObject({ reserved: expect.anything() as unknown });
  });

  it.each([
    ['an undecided job may want the same money', () => use.accept('older')],
    ['the policy of its decision is not in effect', () => use.redis.set(keys.policyInEffect(), 's2')],
  ])('is left to the scheduler when %s', async (_, change) => {
    await change();

    expect(await place('a', { budget: asking(60) })).toBe('queued');

    expect(await spending()).toEqual({ reserved: 0, spent: 0 });
  });

  it('never exceeds the limit under concurrent calls', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `j${i}`);

    const positions = await Promise.all(ids.map((id) => place(id, { worker: worker(), budget: asking(30) })));

    expect(positions.filter((position) => position === 'dispatched')).toHaveLength(3);
    expect(positions.filter((position) => position === 'queued')).toHaveLength(17);
    expect(await spending()).toEqual({ reserved: 90, spent: 0 });
  });

  it('counts for its run and the runs above it, and keeps their limits', async () => {
    await use.redis.hset(keys.run('top'), { id: 'top', cost_limit: 20, cost_action: 'throttle' });
    await use.redis.hset(keys.run('below'), { id: 'below', parent: 'top' });

    expect(await place('a', { worker: worker(), budget: asking(15) }, { run: 'below' })).toBe('dispatched');
    expect(await place('b', { worker: worker(), budget: asking(15) }, { run: 'below' })).toBe('queued');

    const reserved = await Promise.all(['top', 'below'].map((id) => use.redis.hget(keys.run(id), 'cost_reserved')));
    expect(reserved).toEqual(['15', '15']);
  });
});
