import { heartbeatPacket, jobResultPacket, JobStatus, workerJobsSubject } from '@svc/contract';
import { decideJob, handleResult, LaneDispatcher, repairOpenJobs } from '@svc/dispatch';
import type { Scheduler } from './scheduler.testing';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const head = { trace_id: '', sender_id: 'w1', nowUs: 1 };
/** Longer than the period in which the reconciler skips a recently updated job. */
const restedMs = 20_000;

/** A worker with one slot, a job in it and a job that waits for it; the dispatcher knows the lane. */
async function startFull() {
  const scheduler = await use.start({ idle: true });
  const { ctx } = scheduler;
  const beat = heartbeatPacket(head, { worker_id: 'w1', pool: 'main', max_parallel_jobs: 1 });
  ctx.registry.heartbeat(beat.body, Date.now());
  const [first, next] = [await use.submit(), await use.submit()];
  for (const id of [first, next]) await decideJob(ctx, id);
  await use.until(first, 'RUNNING');
  await use.until(next, 'PENDING', { parked: 'jobWaiting' });
  // With a clock that stands still the lanes remain up to date.
  const nowMs = ctx.clock.nowMs();
  const dispatcher = new LaneDispatcher({ ...ctx, clock: { ...ctx.clock, nowMs: () => nowMs } });
  await dispatcher.dispatchToAll();
  const woken: string[] = [];
  const deps = {
    ...ctx,
    claimWithEnd: (id: string) => dispatcher.claimWithEnd(id),
    wake: (id: string) => void woken.push(id),
  };
  return { scheduler, deps, woken, first, next };
}

async function result(id: string) {
  const { dispatch_id = '', attempts } = await use.job(id);
  const dispatch = { dispatch_id, attempt: attempts, assigned_worker_id: 'w1' };
  const status = JobStatus.JOB_STATUS_SUCCEEDED;
  return jobResultPacket(head, { job_id: id, worker_id: 'w1', status, dispatch }).body;
}

const spyOnCalls = ({ platform }: Scheduler) => jest.spyOn(platform.store.redis, 'fcall');

describe('the result of a job that another one waits for', () => {
  it('ends the job and dispatches the other in one call of Redis', async () => {
    const { scheduler, deps, woken, first, next } = await startFull();
    const calls = spyOnCalls(scheduler);

    await handleResult(deps, 'w1', await result(first));

    expect(calls.mock.calls[0]).toEqual(expect.arrayContaining(['move', 'claim']));
    await use.until(first, 'SUCCEEDED');
    await use.until(next, 'RUNNING', { worker_id: 'w1', attempts: 1 });
    expect(await use.stored(workerJobsSubject('w1'))).toBe(2);
    expect(woken).toEqual([]);
  });

  it('leaves a job to the worker that it prefers, whose slot becomes free in the same call', async () => {
    const scheduler = await use.start({ idle: true });
    const { ctx } = scheduler;
    const register = (worker_id: string) => {
      const beat = heartbeatPacket(head, { worker_id, pool: 'main', max_parallel_jobs: 1 });
      ctx.registry.heartbeat(beat.body, Date.now());
    };
    register('w1');
    const one = await use.submit();
    await decideJob(ctx, one);
    register('w2');
    const [two, next] = [await use.submit(), await use.submit({ labels: { preferred_worker_id: 'w1' } })];
    await decideJob(ctx, two);
    await decideJob(ctx, next);
    await use.until(one, 'RUNNING', { worker_id: 'w1' });
    await use.until(two, 'RUNNING', { worker_id: 'w2' });
    const nowMs = ctx.clock.nowMs();
    const dispatcher = new LaneDispatcher({ ...ctx, clock: { ...ctx.clock, nowMs: () => nowMs } });
    await dispatcher.dispatchToAll();
    const claims = [await dispatcher.claimWithEnd('w2'), await dispatcher.claimWithEnd('w1')];

    const ends = [two, one].map((id, i) => {
      const claim = claims[i];
      return ctx.store.jobs.move('*', id, 'succeed', claim && { claim });
    });

    await Promise.all(ends);
    await use.until(next, 'RUNNING', { worker_id: 'w1' });
    expect(claims.map((claim) => claim?.isFilled)).toEqual([false, true]);
  });

  it('dispatches nothing to a worker that was lost before the write', async () => {
    const { deps, woken, first, next } = await startFull();
    const claimWithEnd = async (id: string) => {
      const claim = await deps.claimWithEnd(id);
      deps.registry.expire(Date.now() + 3_600_000);
      return claim;
    };

    await handleResult({ ...deps, claimWithEnd }, 'w1', await result(first));

    await use.until(first, 'SUCCEEDED');
    await use.until(next, 'PENDING', { parked: 'jobWaiting' });
    expect(woken).toEqual(['w1']);
  });

  it('dispatches nothing that was decided under another policy', async () => {
    const { deps, first, next } = await startFull();
    await use.policy(ruled('deny'));

    await handleResult(deps, 'w1', await result(first));

    await use.until(first, 'SUCCEEDED');
    await use.until(next, 'PENDING', { parked: '' });
  });

  it('is acknowledged only when its own end was written', async () => {
    const { scheduler, deps, first, next } = await startFull();
    const packet = await result(first);
    const { redis } = scheduler.platform.store;
    const fcall = redis.fcall.bind(redis);
    const lost = spyOnCalls(scheduler).mockImplementationOnce(async (...args: Parameters<typeof redis.fcall>) => {
      await fcall(...args);
      throw new Error('connection lost');
    });

    await expect(handleResult(deps, 'w1', packet)).rejects.toThrow('connection lost');

    lost.mockRestore();
    await handleResult(deps, 'w1', packet);
    await use.until(first, 'SUCCEEDED');
    // The other job was dispatched without being published: the reconciler publishes that dispatch.
    const dispatched = await use.until(next, 'DISPATCHED');
    expect(await use.stored(workerJobsSubject('w1'))).toBe(1);
    expect(await repairOpenJobs(scheduler.later(restedMs))).toBe(1);
    await use.until(next, 'RUNNING', { dispatch_id: dispatched.dispatch_id ?? '', attempts: 1 });
    expect(await use.stored(workerJobsSubject('w1'))).toBe(2);
  });
});
