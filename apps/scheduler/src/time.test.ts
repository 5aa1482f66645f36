import { heartbeatPacket, JobStatus, subjects } from '@svc/contract';
import { decideJob, releaseLostWorker, timeOutRunning } from '@svc/dispatch';
import { eventually } from '@svc/testing';
import { allowAll, ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const { jobCancel, jobResult } = subjects;
const buildHeartbeat = (worker_id: string) =>
  heartbeatPacket({ trace_id: '', sender_id: worker_id, nowUs: 1 }, { worker_id, pool: 'main', max_parallel_jobs: 1 })
    .body;
/** Longer than the time limit of any job. */
const lateMs = 1_000_000;
const timeout = { error_code: 'timeout', error_message: 'timeout: deadline expired' };

describe('the deadline of a job', () => {
  it('ends a job that waits for a worker, and publishes the timeout', async () => {
    await use.start({ withoutLoops: true });

    const id = await use.submit({ deadline_ms: 300 });

    await use.until(id, 'TIMEOUT', { ...timeout, last_state: 'PENDING' });
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'timeout', last_state: 'PENDING', attempts: 0 });
    expect(await use.published('job_result', jobResult.name, id)).toMatchObject([
      { status: JobStatus.JOB_STATUS_TIMEOUT, error_code: 'timeout' },
    ]);
    expect(await use.store.workers.lanes()).toEqual({});
  });

  it('defaults to the configured one when default deadlines are enabled', async () => {
    await use.start({ env: { defaultDeadline: true }, config: { resources: { default_timeout_seconds: 1 } } });

    const job = await use.until(await use.submit(), 'TIMEOUT', { error_message: 'timeout: deadline expired' });

    expect(job.deadline_ms - job.created_at / 1_000).toBeCloseTo(1_000, -2);
  });

  it('is independent of the waiting limit, which ends only jobs that were never dispatched', async () => {
    await use.start();
    const waiting = await use.submit({ queue_ttl_ms: 50 });

    const job = await use.until(waiting, 'TIMEOUT');
    expect(job).toMatchObject({ error_code: 'timeout', attempts: 0 });
    expect(job.error_message).toContain('queue_ttl_ms of 50 ms');

    const worker = await use.rawWorker({ id: 'w1' });
    const taken = await use.submit({ queue_ttl_ms: 2_000 });
    const dispatch = await worker.dispatched(taken);
    await new Promise((resolve) => setTimeout(resolve, 2_050));
    await worker.answer(dispatch);
    await use.until(taken, 'SUCCEEDED');
  });

  it('ends a job that waits for approval', async () => {
    await use.start({ policy: ruled('require_approval'), withoutLoops: true });

    const id = await use.submit({ deadline_ms: 300 });

    const job = await use.until(id, 'TIMEOUT', { ...timeout, last_state: 'APPROVAL_REQUIRED' });
    expect(job.approval).toMatchObject({ status: 'invalidated' });
  });

  it('ends a throttled job, regardless of the delay of the rule', async () => {
    await use.start({ policy: allowAll, idle: true });
    const id = await use.submit({ deadline_ms: 8_000 });
    await use.policy(ruled('throttle', 'throttle_duration: 60s'));

    await use.start({ withoutLoops: true });

    await use.until(id, 'PENDING', { waiting_reason: 'throttled' });
    await use.until(id, 'TIMEOUT', timeout);
  });

  it('ends a job between two attempts', async () => {
    await use.start({ withoutLoops: true, config: { retry: { initial_backoff: '1m', max_backoff: '1m' } } });
    await use.rawAnswering('FAILED_RETRYABLE');

    const id = await use.submit({ deadline_ms: 3_000 });

    await use.until(id, 'TIMEOUT', { ...timeout, last_state: 'RETRYING', attempts: 1 });
  });

  it('ends a running job: its worker is cancelled, and a late result is ignored', async () => {
    const { events } = await use.start({ withoutLoops: true });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit({ deadline_ms: 3_000 });
    const request = await worker.dispatched(id);

    await use.until(id, 'TIMEOUT', { ...timeout, last_state: 'RUNNING' });
    await worker.answer(request);

    expect(request.budget?.deadline_ms).toBeLessThanOrEqual(3_000);
    expect(await use.published('job_cancel', jobCancel.name, id)).toMatchObject([{ reason: 'timeout' }]);
    await eventually(() => expect(events).toContainEqual(['ignoredResult', id, 'job is TIMEOUT']));
    expect(await use.deadLetter(id)).toMatchObject({ reason_code: 'timeout' });
    const next = await use.submit();
    await worker.dispatched(next);
  });
});

describe('a job without a deadline', () => {
  it('waits for a worker for the time limit of its topic', async () => {
    await use.start({ timeouts: { topics: { 'job.work': { max_pending_seconds: 1 } } }, withoutLoops: true });

    const id = await use.submit();

    const job = await use.until(id, 'TIMEOUT', { error_code: 'timeout' });
    expect(job.error_message).toBe('timeout: no worker within 1 s (no_workers)');
  });

  it('does not time out while its worker cannot reach the bus', async () => {
    const { later } = await use.start({ withoutLoops: true });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    await use.until(id, 'RUNNING');
    await use.servers.nats.kill();

    try {
      await eventually(async () => expect(later(0).registry.hasReceivedAllSince(Date.now(), Date.now())).toBe(false));
      expect(await timeOutRunning(later(1_000_000), id)).toBeGreaterThan(0);
    } finally {
      await use.servers.nats.start();
    }

    await use.until(id, 'RUNNING');
    await eventually(() => worker.answer(request), { withinMs: 15_000 });
    await use.until(id, 'SUCCEEDED');
  }, 40_000);

  it('times out even if schedulers restart more often than their grace period lasts', async () => {
    const env = { workerHeartbeatTtlMs: 30_000 };
    const first = await use.start({ withoutLoops: true, env });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    await worker.dispatched(id);
    await use.until(id, 'RUNNING');
    await first.stop();
    /** Processes the job's entry in a scheduler that has just started, this long after the timeout. */
    const processed = async (afterMs: number) => {
      const scheduler = await use.start({ idle: true, env });
      scheduler.ctx.registry.busConnected(Date.now() + lateMs + afterMs);
      return timeOutRunning(scheduler.later(lateMs + afterMs), id);
    };

    expect(await processed(0)).toBeGreaterThan(0);
    expect(await processed(20_000)).toBeGreaterThan(0);
    expect(await processed(40_000)).toBeUndefined();

    await use.until(id, 'TIMEOUT', { error_message: 'timeout: the worker did not answer in time' });
  });

  it('gets the full grace period again after a bus outage', async () => {
    const { ctx, later } = await use.start({ idle: true });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    ctx.registry.heartbeat(buildHeartbeat(worker.id), Date.now());
    await decideJob(ctx, id);
    const processed = (afterMs: number) => timeOutRunning(later(lateMs + afterMs), id);
    ctx.registry.busConnected(Date.now() + lateMs);
    await processed(0);
    ctx.registry.busDisconnected();
    await processed(20_000);
    ctx.registry.busConnected(Date.now() + lateMs + 40_000);

    expect(await processed(40_000)).toBeGreaterThan(0);
    expect(await processed(60_000)).toBeGreaterThan(0);
    expect(await processed(75_000)).toBeUndefined();
  });

  it('runs for the time limit of its topic and is then cancelled', async () => {
    await use.start({ timeouts: { topics: { 'job.work': { running_timeout_seconds: 1 } } } });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    await worker.dispatched(id);

    await use.until(id, 'TIMEOUT', { error_message: 'timeout: the worker did not answer in time' });
    await use.published('job_cancel', jobCancel.name, id);
  });

  it('keeps running as long as it reports progress, which is recorded', async () => {
    await use.start({ timeouts: { topics: { 'job.work': { running_timeout_seconds: 1 } } } });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    const { dispatched_at: since = 0 } = await use.job(id);

    await eventually(
      async () => {
        worker.progress(id, 40);
        const job = await use.job(id);
        expect(job).toMatchObject({ state: 'RUNNING', progress_percent: 40, progress_message: 'working' });
        // 1.5 times the limit for a job without progress.
        expect((job.progress_at ?? 0) - since).toBeGreaterThan(1_500_000);
      },
      { everyMs: 100 },
    );
    await worker.answer(request);
    await use.until(id, 'SUCCEEDED');
  });

  it('is not extended by the progress of another worker', async () => {
    await use.start({ timeouts: { topics: { 'job.work': { running_timeout_seconds: 1 } } } });
    const worker = await use.rawWorker({ id: 'w1' });
    const other = await use.rawWorker({ id: 'w2', pool: 'elsewhere' });
    const id = await use.submit();
    await worker.dispatched(id);
    const reports = setInterval(() => other.progress(id), 100);

    const job = await use.until(id, 'TIMEOUT').finally(() => clearInterval(reports));

    expect(job.progress_percent).toBeUndefined();
  });
});

describe('a cancel', () => {
  it('that a worker missed is published again when the worker reports the job', async () => {
    await use.start();
    let stopped = false;
    const untilStopped = ({ signal }: { signal: AbortSignal }) =>
      new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => {
          stopped = true;
          resolve();
        }),
      );
    await use.worker({ id: 'w1', topics: { 'job.>': untilStopped } });
    const id = await use.submit();
    await use.until(id, 'RUNNING');

    // No cancel is published, as if the worker had missed it.
    await use.store.jobs.move('*', id, 'cancel');

    await eventually(() => expect(stopped).toBe(true));
  });

  it('of a running job reaches its worker, frees the slot, and the late answer is ignored', async () => {
    const { ctx, events } = await use.start();
    let stopped = '';
    const topics = {
      'job.work': ({ signal }: { signal: AbortSignal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            stopped = String((signal.reason as Error).message);
            reject(signal.reason as Error);
          }),
        ),
      'job.next': () => 'done',
    };
    await use.worker({ id: 'w1', topics });
    const id = await use.submit();
    await use.until(id, 'RUNNING');
    const next = await use.submit({ topic: 'job.next' });
    await use.until(next, 'PENDING', { waiting_reason: 'pool_overloaded' });

    await use.cancel(id);

    await use.until(id, 'CANCELLED');
    await use.until(next, 'SUCCEEDED');
    expect(stopped).toBe('cancelled via api');
    await eventually(() => expect(events).toContainEqual(['ignoredResult', id, 'job is CANCELLED']));
    expect(await use.deadLetter(id)).toBeUndefined();
    expect(await ctx.store.workers.inFlight('w1')).toEqual([]);
  });
});

describe('a worker whose heartbeats stop', () => {
  const env = { workerHeartbeatTtlMs: 500 };
  const config = { retry: { initial_backoff: '10ms' } };

  it('loses its jobs to another worker, and its late result is ignored', async () => {
    const { events } = await use.start({ env, config });
    const first = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await first.dispatched(id);

    first.mute();
    await use.until(id, 'RETRYING');
    const second = await use.rawWorker({ id: 'w2' });
    const again = await second.dispatched(id);
    await first.answer(request, 'FAILED_FATAL');

    await eventually(() => expect(events).toContainEqual(['ignoredResult', id, 'not the worker that holds it']));
    await second.answer(again);
    await use.until(id, 'SUCCEEDED', { worker_id: 'w2', attempts: 2, retry_count: 1 });
    expect(again.env['SVC_DISPATCH_ID']).not.toBe(request.env['SVC_DISPATCH_ID']);
    expect(events).toContainEqual(['workerLost', 'w1', 1]);
  });

  it('loses only jobs it still holds, even if its snapshot is stale', async () => {
    const { ctx } = await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 2 });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    const stale = await use.until(id, 'RUNNING');
    // The worker then reports a failure, and the job is requeued.
    await use.store.jobs.move('*', id, 'retry', { queueEntries: [{ queue: 'jobs', suffix: 'again' }] });
    const again = await worker.dispatched(id, 2);
    const index = { ...ctx.store.index, records: () => Promise.resolve([stale]) };

    await releaseLostWorker({ ...ctx, store: { ...ctx.store, index: index as never } }, 'w1');

    expect(await use.until(id, 'RUNNING')).toMatchObject({ dispatch_id: again.env['SVC_DISPATCH_ID'], retry_count: 0 });
    expect(again.env['SVC_DISPATCH_ID']).not.toBe(request.env['SVC_DISPATCH_ID']);
  });

  it('gets jobs again when it returns', async () => {
    await use.start({ env, config });
    const worker = await use.rawWorker({ id: 'w1', max: 2 });
    const id = await use.submit();
    await worker.dispatched(id);
    worker.mute();
    await use.until(id, 'RETRYING', { waiting_reason: 'no_workers' });

    worker.beat();

    await worker.answer(await worker.dispatched(id, 2));
    await use.until(id, 'SUCCEEDED');
  });

  it('has its jobs fail when they have no attempt left', async () => {
    await use.start({ env, config: { retry: { max_retries: 0 } } });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    await worker.dispatched(id);

    worker.mute();

    await use.until(id, 'FAILED', { error_code: 'max_retries_exceeded' });
  });
});
