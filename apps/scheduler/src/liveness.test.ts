import { bootIdLabel, heartbeatPacket } from '@svc/contract';
import { decideJob, releaseLostJobs } from '@svc/dispatch';
import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();

const buildHeartbeat = (worker_id: string) =>
  heartbeatPacket({ trace_id: '', sender_id: worker_id, nowUs: 1 }, { worker_id, pool: 'main', max_parallel_jobs: 1 });

describe('a worker whose heartbeats have expired', () => {
  const env = { workerHeartbeatTtlMs: 500 };
  const expired = (ctx: Awaited<ReturnType<typeof use.start>>['ctx'], id: string) =>
    eventually(() => expect(ctx.registry.silent(Date.now())).toContain(id));

  it('gets no job before the sweep removes it; the next live worker gets them all', async () => {
    // No loops run, so the worker is still registered, as just before the sweep.
    const { ctx } = await use.start({ env, withoutLoops: true });
    const dead = await use.rawWorker({ id: 'w1', max: 10 });
    await eventually(() => expect(ctx.registry.has('w1')).toBe(true));
    dead.mute();
    await expired(ctx, 'w1');

    const ids = await Promise.all(Array.from({ length: 8 }, () => use.submit()));

    for (const id of ids) await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    const live = await use.rawWorker({ id: 'w2', max: 10 });
    for (const id of ids) await live.dispatched(id);
    expect(dead.received).toEqual([]);
  });

  it('gets no waiting job either', async () => {
    const { ctx } = await use.start({ env, idle: true });
    const id = await use.submit();
    await decideJob(ctx, id);
    const { body } = buildHeartbeat('w1');
    ctx.registry.heartbeat(body, Date.now() - 1_000);
    ctx.registry.busConnected(Date.now() - 1_000);

    await ctx.laneDispatcher.dispatchTo('w1');

    expect(await use.job(id)).toMatchObject({ state: 'PENDING', attempts: 0 });
  });

  it('gets waiting jobs immediately when its heartbeats resume', async () => {
    const { ctx } = await use.start({ env, withoutLoops: true });
    const worker = await use.rawWorker({ id: 'w1', max: 10 });
    await eventually(() => expect(ctx.registry.has('w1')).toBe(true));
    worker.mute();
    await expired(ctx, 'w1');
    const id = await use.submit();
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });

    await eventually(() => {
      worker.beat();
      expect(worker.order()).toEqual([id]);
    });
  });
});

describe('a worker that is restarted under the same id', () => {
  const soon = { initial_backoff: '10ms' };
  const lost = { attempts: 2, retry_count: 1 };

  /** A scheduler, and a worker that reported its job and disappeared without an answer. */
  const crashed = async (labels: Record<string, string> = {}, retry: object = soon) => {
    const scheduler = await use.start({ config: { retry } });
    const worker = await use.rawWorker({ id: 'w1', max: 2, labels });
    const id = await use.submit();
    await worker.dispatched(id);
    await use.until(id, 'RUNNING');
    await eventually(() => expect(scheduler.ctx.registry.reportsJobs('w1')).toBe(true));
    await worker.stop();
    return { ...scheduler, id };
  };

  it('has its old jobs retried once its heartbeats no longer include them', async () => {
    const { id, events } = await crashed();

    const restarted = await use.rawWorker({ id: 'w1', max: 2 });

    await restarted.answer(await restarted.dispatched(id));
    await use.until(id, 'SUCCEEDED', lost);
    expect(events).toContainEqual(['jobsLost', 'w1', 1]);
    // The message of the first dispatch is gone, so that a durable consumer does not deliver it again.
    expect(await use.stored('worker.w1.jobs')).toBe(1);
  });

  it('has them retried at the first heartbeat with a new boot id, even if that includes other jobs', async () => {
    const { id } = await crashed({ [bootIdLabel]: 'one' });

    const restarted = await use.rawWorker({ id: 'w1', max: 2, labels: { [bootIdLabel]: 'two' }, counts: () => 1 });

    await restarted.answer(await restarted.dispatched(id));
    await use.until(id, 'SUCCEEDED', lost);
  });

  it('keeps a job whose result is stored but not yet processed', async () => {
    const { ctx } = await use.start({ idle: true });
    const worker = await use.rawWorker({ id: 'w1', max: 2 });
    const id = await use.submit();
    const { body: beat } = buildHeartbeat('w1');
    ctx.registry.heartbeat({ ...beat, labels: { [bootIdLabel]: 'one' } }, Date.now());
    await decideJob(ctx, id);
    await worker.dispatched(id);
    await use.until(id, 'RUNNING');
    const labels = { [bootIdLabel]: 'two' };
    const replacedAtMs = Date.now() + 1;

    const heartbeat = { kind: 'known', freed: false, replacedAtMs } as const;
    await releaseLostJobs({ ...ctx, resultsHandled: async () => false }, { ...beat, labels }, heartbeat);
    expect(await use.job(id)).toMatchObject({ state: 'RUNNING', attempts: 1 });

    await releaseLostJobs({ ...ctx, resultsHandled: async () => true }, { ...beat, labels }, heartbeat);
    expect(await use.job(id)).toMatchObject({ state: 'RETRYING', error_message: 'worker w1 no longer has it' });
  });

  it('has them fail when they have no retry left', async () => {
    const { id } = await crashed({}, { max_retries: 0 });

    await use.rawWorker({ id: 'w1', max: 2 });

    await use.until(id, 'FAILED', { error_code: 'max_retries_exceeded' });
  });
});
