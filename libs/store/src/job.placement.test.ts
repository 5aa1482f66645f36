import { openQueue } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { eventually, plainRequest } from '@svc/testing';
import { Redis } from 'ioredis';
import { keys, LaneArrivals, type LaneArrival, type Placement } from './index';
import { useStore, waitingPlan } from './store.testing';

const use = useStore();

const placement = (over: Partial<Placement> = {}): Placement => ({
  snapshot: 's1',
  ...waitingPlan,
  otherLanes: [],
  mayWait: true,
  ...over,
});
const worker = (max = 1, id = 'w1') => ({ id, pool: 'p', max });

const accept = (id: string, place: Placement, tenant = 'acme') =>
  use.store.jobs.accept({
    id,
    tenant,
    traceId: id,
    topic: 'job.default',
    fields: { request: plainRequest, submitter: 'ann', job_hash: 'h', deadline_ms: 0, safety_snapshot: 's1' },
    context: '{}',
    priority: 10,
    activeLimit: 0,
    place,
  });
const placed = async (id: string, place: Placement, tenant?: string) => {
  const outcome = await accept(id, place, tenant);
  return outcome.kind === 'accepted' ? outcome.placed : outcome;
};
const policy = (snapshot: string) => use.redis.set(keys.policyInEffect(), snapshot);

/** Ids of the entries of each queue that holds unfinished jobs, by queue. */
async function entries(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const name of ['jobs', 'jobWaiting', 'jobApprovals', 'jobRunning'] as const) {
    const queue = openQueue(queues[name], use.redis);
    const jobs = await queue.getJobs();
    if (jobs.length > 0) found[queues[name].name] = jobs.map(({ id }) => id ?? '');
    await queue.close();
  }
  return found;
}

describe('a job that the accepting call may place', () => {
  beforeEach(() => policy('s1'));

  it('waits in its lane without a worker, and has one queue entry', async () => {
    expect(await placed('a', placement())).toEqual({ kind: 'waiting', reason: 'no_workers' });

    expect(await entries()).toEqual({ 'jobs-waiting': ['job-a'] });
    expect(await use.store.jobs.load('a')).toMatchObject({
      state: 'PENDING',
      parked: 'jobWaiting',
      lane: 'job.default',
      waiting_reason: 'no_workers',
      decided: 'submission',
      attempts: 0,
      run_ms: 60_000,
    });
    expect(await use.store.jobs.hasQueueEntry({ id: 'a', parked: 'jobWaiting', lane: 'job.default' })).toBe(true);
    const { jobs: claimed } = await use.store.jobs.claim({
      worker: worker(),
      lanes: ['job.default'],
      dispatchIds: ['c1'],
      licenseCap: 0,
      snapshot: 's1',
    });
    expect(claimed).toMatchObject([{ id: 'a', dispatch_id: 'c1' }]);
    expect(await entries()).toEqual({ 'jobs-in-flight': ['job-a'] });
  });

  it('keeps its turn among jobs that the scheduler placed', async () => {
    await use.accept('older');
    await accept('newer', placement());
    const { snapshot: _, otherLanes: __, mayWait: ___, ...plan } = placement();
    await use.store.jobs.admit('older', { ...plan, set: {} });

    const { jobs: claimed } = await use.store.jobs.claim({
      worker: worker(9),
      lanes: ['job.default'],
      dispatchIds: ['c1', 'c2'],
      licenseCap: 0,
      snapshot: '',
    });

    expect(claimed.map(({ id }) => id)).toEqual(['older', 'newer']);
  });

  it('stays behind a job of its tenant that is suspended at a lower limit; other tenants pass', async () => {
    const place = placement({ worker: worker(5) });
    await accept('running', { ...place, tenantCap: 1 });
    await accept('first', { ...place, tenantCap: 1 });
    const lanes = ['job.default'];
    await use.store.jobs.claim({ worker: worker(5), lanes, dispatchIds: ['1'], licenseCap: 0, snapshot: 's1' });

    expect(await placed('second', { ...place, tenantCap: 2 })).toEqual({ kind: 'waiting', reason: 'pool_overloaded' });
    expect(await placed('other', place, 'globex')).toEqual({ kind: 'dispatched', attempt: 1 });
  });

  it.each([
    ['policy has changed since its decision', () => policy('s2')],
    ['the policy in effect is unknown', () => use.redis.del(keys.policyInEffect())],
    ['an operator has paused the queue', () => use.redis.hset(keys.queue('jobs', 'meta'), 'paused', '1')],
  ])('goes to the queue of undecided jobs when %s', async (_, change) => {
    await change();

    expect(await placed('a', placement())).toEqual({ kind: 'queued' });

    expect(await use.store.jobs.load('a')).toMatchObject({ state: 'PENDING', parked: '', lane: '' });
    expect((await use.store.jobs.load('a'))?.decided).toBeUndefined();
    expect(await use.redis.zcard(keys.queue('jobs', 'prioritized'))).toBe(1);
    expect(await use.redis.exists(keys.lanes(), keys.queue('jobs-waiting', 'delayed'))).toBe(0);
  });

  it('goes to the queue of undecided jobs when it may not wait in a lane', async () => {
    expect(await placed('a', placement({ mayWait: false }))).toEqual({ kind: 'queued' });

    expect(await entries()).toEqual({ jobs: ['job-a-submit'] });
  });
});

describe('a lane in which no job waits', () => {
  const arrivals: LaneArrival[] = [];
  let listening: LaneArrivals;
  beforeEach(async () => {
    arrivals.length = 0;
    await policy('s1');
    const redis = new Redis(use.redisUrl, { autoResubscribe: false });
    listening = new LaneArrivals(redis, (arrival) => arrivals.push(arrival));
    await listening.open();
  });
  afterEach(() => listening.close());

  it('is announced with its first job, and again after it was emptied', async () => {
    await accept('a', placement());
    await accept('b', placement(), 'globex');
    await accept('c', placement());
    await use.store.jobs.claim({
      worker: worker(9),
      lanes: ['job.default'],
      dispatchIds: ['1', '2', '3'],
      licenseCap: 0,
      snapshot: '',
    });
    await accept('d', placement());

    await eventually(() => expect(arrivals).toEqual(Array(2).fill({ id: 'job.default', spec: '{}' })));
  });
});
