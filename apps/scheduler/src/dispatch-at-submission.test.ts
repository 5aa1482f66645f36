import { type PlacementDeps, repairOpenJobs } from '@svc/dispatch';
import type { NewJobPlacement } from '@svc/jobs';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();

/** A gateway that knows a worker. */
async function gatewayWith(workerId: string, over: Parameters<typeof use.gateway>[0] = {}) {
  const gateway = await use.gateway(over);
  await gateway.knows(workerId);
  return gateway;
}

/** A gateway that stops after the accepting call, like one that is killed there. */
const killed = (placement: NewJobPlacement): NewJobPlacement => ({
  async propose(job) {
    const proposal = await placement.propose(job);
    return proposal && { place: proposal.place, settle: () => undefined };
  },
});

/** A bus that stores a message and never confirms it. */
const publishedThenHung = (): PlacementDeps['bus'] => ({
  publish: async (...packet) => use.bus.publish(...packet),
  publishDurable: async (...packet) => {
    await use.bus.publishDurable(...packet);
    return new Promise(() => undefined);
  },
});

const entriesIn = (queue: string) => use.redis.zrange(keys.queue(queue, 'delayed'), 0, '-1');

describe('a permitted job, while a worker has room', () => {
  it('is dispatched by the call that accepts it', async () => {
    // No scheduler processes queues.
    await use.start({ idle: true });
    const worker = await use.rawWorker({ id: 'w1' });
    const { placement } = await gatewayWith('w1');

    const id = await use.place(placement, { deadline_ms: 60_000 });

    const request = await worker.dispatched(id);
    const job = await use.until(id, 'RUNNING', { worker_id: 'w1', attempts: 1, decided: 'submission' });
    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING']);
    expect(request.dispatch).toEqual({ dispatch_id: job.dispatch_id, attempt: 1, assigned_worker_id: 'w1' });
    expect(request.budget?.deadline_ms).toBeGreaterThan(0);
    expect(await entriesIn('jobs-in-flight')).toEqual([`job-${id}`]);
    expect(await use.redis.keys('{s0}:jobs:job-*')).toEqual([]);
    expect(await use.redis.smembers(keys.workerInFlight('w1'))).toEqual([id]);
  });

  it('gives its slot back when it ends, also in the view of the gateway', async () => {
    await use.start();
    await use.rawAnswering('SUCCEEDED', {}, 'w1');
    const { placement, registry } = await gatewayWith('w1');
    const roomBefore = registry.freeSlots('w1');

    const id = await use.place(placement);

    await use.until(id, 'SUCCEEDED');
    await eventually(() => expect(registry.freeSlots('w1')).toBe(roomBefore));
    expect(await use.redis.exists(keys.workerInFlight('w1'))).toBe(0);
  });

  it('counts toward the limit of its tenant', async () => {
    await use.start({ policy: ruled('allow_with_constraints', 'constraints: {budgets: {max_concurrent_jobs: 1}}') });
    const worker = await use.rawWorker({ id: 'w1', max: 5 });
    const { placement } = await gatewayWith('w1');

    const first = await use.place(placement);
    const second = await use.place(placement);
    const other = await use.place(placement, {}, 'globex');

    await use.until(second, 'PENDING', { waiting_reason: 'tenant_limit', parked: 'jobWaiting' });
    await worker.dispatched(other);
    await worker.answer(await worker.dispatched(first));
    await worker.dispatched(second);
  });

  it('is dispatched at once when it is critical, and goes to the scheduler without a free worker', async () => {
    await use.start({ idle: true });
    await use.rawWorker({ id: 'w1', max: 1 });
    const { placement } = await gatewayWith('w1');

    const first = await use.place(placement, { priority: 'critical' });
    const second = await use.place(placement, { priority: 'critical' });

    await use.until(first, 'RUNNING');
    expect(await use.job(second)).toMatchObject({ state: 'PENDING', parked: '' });
  });
});

describe('a job that must not overtake others', () => {
  it('waits in its lane while an undecided job is in the queue', async () => {
    await use.start({ idle: true });
    await use.rawWorker({ id: 'w1', max: 5 });
    const { placement } = await gatewayWith('w1');
    await use.submit();

    const id = await use.place(placement);

    expect(await use.job(id)).toMatchObject({ parked: 'jobWaiting', waiting_reason: 'pool_overloaded' });
  });

  it('waits behind jobs in another lane that the worker serves, and passes those that it does not serve', async () => {
    await use.start({ idle: true });
    const { ctx } = await use.start({ idle: true });
    await use.rawWorker({ id: 'w1', max: 5, capabilities: [] });
    const { placement } = await gatewayWith('w1');
    const lane = async (spec: object, level = 2) => {
      const waiting = await use.submit();
      await use.redis.del(keys.queue('jobs', 'prioritized'));
      const plan = { dispatchId: 'd', reason: 'no_workers', runMs: 1_000, deadlineMs: 0, tenantCap: 0, licenseCap: 0 };
      await ctx.store.jobs.admit(waiting, {
        ...plan,
        lane: { id: JSON.stringify(spec), spec: JSON.stringify(spec), level },
        waitMs: 60_000,
        set: {},
      });
    };
    await lane({ topic: 'job.work', requires: ['gpu'], placement: {} });

    // The gateway learns of the lane from the first job that waits because of it.
    const first = await use.place(placement);
    expect(await use.job(first)).toMatchObject({ parked: 'jobWaiting' });
    await use.cancel(first);
    await eventually(async () => {
      const id = await use.place(placement);
      await use.cancel(id);
      expect((await use.job(id)).worker_id).toBe('w1');
    });

    await lane({ topic: 'job.other', requires: [], placement: {} }, 3);
    expect(await use.job(await use.place(placement))).toMatchObject({ parked: 'jobWaiting' });
  });
});

describe('a gateway that fails after the accepting call', () => {
  it('leaves a dispatch that is published from the record, and executed once', async () => {
    const { later } = await use.start({ withoutLoops: true });
    const worker = await use.rawAnswering('SUCCEEDED', {}, 'w1');
    const { placement } = await gatewayWith('w1');

    const id = await use.place(killed(placement));

    await use.until(id, 'DISPATCHED', { worker_id: 'w1' });
    expect(worker.received).toEqual([]);
    await repairOpenJobs(later(11_000));
    // Until its start is written, the next cycle would publish it again.
    await eventually(async () => expect((await use.job(id)).state).not.toBe('DISPATCHED'));
    await repairOpenJobs(later(22_000));
    await use.until(id, 'SUCCEEDED', { attempts: 1 });
    expect(worker.received).toHaveLength(1);
  });

  it('dies after the publish: the dispatch is repeated under its message id, and the bus drops it', async () => {
    const { later } = await use.start({ withoutLoops: true });
    const worker = await use.rawWorker({ id: 'w1' });
    const { placement } = await gatewayWith('w1', { bus: publishedThenHung() });

    const id = await use.place(placement);

    await worker.dispatched(id);
    await use.until(id, 'DISPATCHED');
    await repairOpenJobs(later(11_000));
    await use.until(id, 'RUNNING', { attempts: 1 });
    // The worker's subscription has no consumer, so only the stream shows what is delivered.
    expect(await use.stored('worker.w1.jobs')).toBe(1);
  });

  it('repeats the cancel of a job that was cancelled before the bus had its dispatch', async () => {
    await use.start({ idle: true });
    await use.rawWorker({ id: 'w1' });
    let publish: () => void = () => undefined;
    const cancelled = new Promise<void>((resolve) => (publish = resolve));
    const bus: PlacementDeps['bus'] = {
      publish: async (...packet) => use.bus.publish(...packet),
      publishDurable: async (...packet) => {
        await cancelled;
        return use.bus.publishDurable(...packet);
      },
    };
    const { placement, registry } = await gatewayWith('w1', { bus });
    const id = await use.place(placement);
    await use.until(id, 'DISPATCHED');

    await use.cancel(id);
    // The gateway has received the end.
    await eventually(() => expect(registry.freeSlots('w1')).toBe(1));
    publish();

    const cancels = await use.published('job_cancel', 'sys.job.cancel', id, 2);
    expect(cancels.map(({ reason }) => reason)).toContain('taken back before it arrived');
  });

  it('rolls a rejected publish back, and the job runs with the same dispatch', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1' });
    const noBus = {
      publish: () => Promise.reject(new Error('no bus')),
      publishDurable: () => Promise.reject(new Error('no bus')),
    };
    const { placement, registry } = await gatewayWith('w1', { bus: noBus });

    const id = await use.place(placement);

    const { dispatch_id } = await use.until(id, 'SCHEDULED', { waiting_reason: 'dispatch_failed' });
    expect(await use.redis.exists(keys.workerInFlight('w1'))).toBe(0);
    await eventually(() => expect(registry.freeSlots('w1')).toBe(1));
    await use.promote();
    expect((await worker.dispatched(id)).dispatch?.dispatch_id).toBe(dispatch_id);
  });
});

describe('two gateways', () => {
  it('compete for the last slot, and one of them gets it', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 1 });
    const gateways = [await gatewayWith('w1'), await gatewayWith('w1')];

    const ids = await Promise.all(gateways.map(({ placement }) => use.place(placement)));

    await eventually(() => expect(worker.received).toHaveLength(1));
    expect(await use.redis.scard(keys.workerInFlight('w1'))).toBe(1);
    const [first] = worker.received;
    const other = ids.find((id) => id !== first?.job_id) ?? '';
    expect(await use.job(other)).toMatchObject({ state: 'PENDING', parked: 'jobWaiting' });
    if (first) await worker.answer(first);
    await worker.dispatched(other);
  });
});

describe('a gateway that does not know the workers', () => {
  it('adds jobs to their lanes while it is disconnected from the bus', async () => {
    await use.start({ idle: true });
    await use.rawWorker({ id: 'w1' });
    const { placement, registry } = await gatewayWith('w1');
    registry.busDisconnected();

    const id = await use.place(placement);

    expect(await use.job(id)).toMatchObject({ state: 'PENDING', parked: 'jobWaiting' });
  });

  it('publishes to a worker that has left; the job runs elsewhere when the worker is lost', async () => {
    await use.start({ env: { workerHeartbeatTtlMs: 1_000 } });
    const gone = await use.rawWorker({ id: 'w1' });
    const { placement } = await gatewayWith('w1');
    gone.mute();
    const id = await use.place(placement);
    await gone.dispatched(id);
    const next = await use.rawWorker({ id: 'w2' });

    const request = await next.dispatched(id);

    expect(request.dispatch?.attempt).toBe(2);
  });
});
