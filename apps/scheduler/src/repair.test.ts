import { heartbeatPacket, JobStatus, subjects } from '@svc/contract';
import { cancelJob } from '@svc/jobs';
import { decideJob, newRepairState, repairOpenJobs, repairSlots, replayIntents } from '@svc/dispatch';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import type { Scheduler } from './scheduler.testing';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
/** Longer than the period in which the reconciler skips a recently updated job. */
const restedMs = 20_000;

/** Registers a worker as if the scheduler had received its heartbeat. */
function registerWorker({ ctx }: Scheduler, worker_id: string): void {
  const head = { trace_id: '', sender_id: worker_id, nowUs: 1 };
  const beat = heartbeatPacket(head, { worker_id, pool: 'main', max_parallel_jobs: 4 });
  ctx.registry.heartbeat(beat.body, Date.now());
}

const forever = () => new Promise<never>(() => undefined);
const failing = {
  publish: () => Promise.reject(new Error('no bus')),
  publishDurable: () => Promise.reject(new Error('no bus')),
};

describe('a bus that is unavailable during a dispatch', () => {
  const away = {
    ended: [() => use.servers.nats.kill(), () => use.servers.nats.start()],
    // Packets sent while it is frozen are delivered after the publish has timed out.
    frozen: [() => signal('SIGSTOP'), () => signal('SIGCONT')],
  } as const;
  const signal = async (name: NodeJS.Signals) => void process.kill(use.servers.nats.pid, name);

  it.each(['ended', 'frozen'] as const)(
    '%s: the dispatch is rolled back, and the job runs once after the bus recovers',
    async (how) => {
      const [leave, comeBack] = away[how];
      const { events } = await use.start();
      const runs: string[] = [];
      const topics = { 'job.>': ({ jobId }: { jobId: string }) => void runs.push(jobId) };
      for (const id of ['w1', 'w2', 'w3']) await use.worker({ id, concurrency: 4, topics });
      await use.until(await use.submit(), 'SUCCEEDED');
      await leave();

      const ids = [await use.submit(), await use.submit(), await use.submit()];
      try {
        await Promise.all(ids.map((id) => use.until(id, 'SCHEDULED', { waiting_reason: 'dispatch_failed' })));
        // Two attempts each: if both are delivered, they are the same dispatch.
        await eventually(() =>
          expect(events.filter(([name]) => name === 'rolledBack').length).toBeGreaterThanOrEqual(6),
        );
      } finally {
        await comeBack();
      }

      for (const id of ids) await use.until(id, 'SUCCEEDED', { attempts: 1 });
      // One more job per worker flushes any message still in a buffer or in the stream.
      for (const id of ['w1', 'w2', 'w3'])
        await use.until(await use.submit({ labels: { preferred_worker_id: id } }), 'SUCCEEDED', { worker_id: id });
      for (const id of ids) expect(runs.filter((run) => run === id)).toHaveLength(1);
    },
  );
});

describe('a scheduler that dies between two writes', () => {
  it('before the publish: the repair publishes the job', async () => {
    const scheduler = await use.start({ idle: true });
    const runs: string[] = [];
    await use.worker({ id: 'w1', topics: { 'job.>': ({ jobId }) => void runs.push(jobId) } });
    registerWorker(scheduler, 'w1');
    const id = await use.submit();
    void decideJob({ ...scheduler.ctx, bus: { publish: forever, publishDurable: forever } }, id);
    await use.until(id, 'DISPATCHED');

    expect(await repairOpenJobs(scheduler.ctx)).toBe(0);
    expect(await repairOpenJobs(scheduler.later(restedMs))).toBe(1);

    await use.until(id, 'RUNNING', { attempts: 1 });
    await eventually(() => expect(runs).toEqual([id]));
  });

  it('after the publish: the repair publishes the same message, and the worker receives it once', async () => {
    const scheduler = await use.start({ idle: true });
    registerWorker(scheduler, 'w1');
    const id = await use.submit();
    const { bus } = scheduler.ctx;
    const publishDurable = (...packet: Parameters<typeof bus.publishDurable>) =>
      bus.publishDurable(...packet).then(forever);
    void decideJob({ ...scheduler.ctx, bus: { ...bus, publishDurable } }, id);
    await eventually(async () => expect(await use.stored('worker.w1.jobs')).toBe(1));

    await repairOpenJobs(scheduler.later(restedMs));

    await use.until(id, 'RUNNING');
    expect(await use.stored('worker.w1.jobs')).toBe(1);
  });

  it('an intent that cannot be published does not block the others', async () => {
    const { ctx } = await use.start({ idle: true });
    const ids = [await use.submit(), await use.submit(), await use.submit()];
    for (const id of ids) await use.store.jobs.move('*', id, 'cancel', { intent: '{"cancel":"because"}' });
    const [bad = ''] = ids;
    await use.redis.hset(keys.job(bad), 'intent', 'no intent at all');
    const long = { ...ctx, clock: { ...ctx.clock, nowUs: () => ctx.clock.nowUs() + 60_000_000 } };

    expect(await replayIntents(long)).toBe(2);

    for (const id of ids.slice(1)) await use.published('job_cancel', subjects.jobCancel.name, id);
    expect((await use.job(bad)).intent).toBe('no intent at all');
  });

  it('before publishing the events of a job: the replayer publishes them once', async () => {
    const { ctx, later } = await use.start({ idle: true });
    const id = await use.submit();
    await cancelJob({ ...ctx, bus: failing, onPublishFailed: () => undefined }, 'acme', id);

    expect(await replayIntents(ctx)).toBe(0);
    expect(await replayIntents(later(restedMs))).toBe(1);
    expect(await replayIntents(later(restedMs))).toBe(0);

    expect(await use.published('job_result', subjects.jobResult.name, id)).toMatchObject([
      { status: JobStatus.JOB_STATUS_CANCELLED },
    ]);
    await use.published('job_cancel', subjects.jobCancel.name, id);
    expect(await use.job(id)).not.toHaveProperty('intent');
  });
});

describe('a job whose queue entry is lost', () => {
  const findEntry = async (queue: string, id: string) => {
    const parts = ['prioritized', 'delayed'].map((part) => use.redis.zrange(keys.queue(queue, part), 0, '-1'));
    return (await Promise.all(parts)).flat().find((entry) => entry.includes(id));
  };
  const lose = async (queue: string, id: string) => {
    const entry = (await findEntry(queue, id)) ?? 'none';
    for (const part of ['prioritized', 'delayed']) await use.redis.zrem(keys.queue(queue, part), entry);
    expect(await use.redis.del(keys.queue(queue, entry))).toBe(1);
  };

  it('is requeued when it waited for its policy decision', async () => {
    const { later } = await use.start({ idle: true });
    const id = await use.submit();
    await lose('jobs', id);

    expect(await repairOpenJobs(later(restedMs))).toBe(1);
    expect(await repairOpenJobs(later(restedMs))).toBe(0);

    await use.start();
    await use.worker({ id: 'w1' });
    await use.until(id, 'SUCCEEDED');
  });

  it('is requeued when it waited for a worker', async () => {
    const { later } = await use.start({ withoutLoops: true });
    const id = await use.submit();
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await lose('jobs-waiting', id);

    await repairOpenJobs(later(restedMs));

    await eventually(async () => expect(await findEntry('jobs-waiting', id)).toBeDefined());
    await use.worker({ id: 'w1' });
    await use.until(id, 'SUCCEEDED');
  });

  it('times out at its deadline', async () => {
    const { later } = await use.start({ withoutLoops: true });
    const id = await use.submit({ deadline_ms: 60_000 });
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await lose('jobs-waiting', id);

    await repairOpenJobs(later(70_000));

    await use.until(id, 'TIMEOUT', { error_code: 'timeout' });
  });

  it('times out at its time limit when it runs', async () => {
    const { later } = await use.start({ withoutLoops: true, env: { workerHeartbeatTtlMs: 10_000_000 } });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    await worker.dispatched(id);
    await use.until(id, 'RUNNING');
    await lose('jobs-in-flight', id);

    expect(await repairOpenJobs(later(restedMs))).toBe(0);
    await repairOpenJobs(later(1_000_000));

    await use.until(id, 'TIMEOUT', { error_code: 'timeout' });
  });

  it('expires when it waited for approval', async () => {
    const { later } = await use.start({ policy: ruled('require_approval'), withoutLoops: true });
    const id = await use.submit();
    await lose('jobs-held', id);

    await repairOpenJobs(later(25 * 3_600_000));

    await use.until(id, 'DENIED', { error_code: 'approval_expired' });
  });

  it('is found behind any number of intact jobs', async () => {
    const { later } = await use.start({ idle: true });
    const ids: string[] = [];
    for (let i = 0; i < 230; i++) ids.push(await use.submit());
    const last = ids.at(-1) ?? '';
    await lose('jobs', last);

    expect(await repairOpenJobs(later(restedMs))).toBe(1);
    expect(await use.store.jobs.hasQueueEntry(await use.job(last))).toBe(true);
  });

  it('is found in a later scan when one scan cannot cover all jobs', async () => {
    const { later } = await use.start({ idle: true });
    await Promise.all(Array.from({ length: 2_000 }, () => use.submit()));
    const last = await use.submit();
    await lose('jobs', last);
    const memory = newRepairState();

    expect(await repairOpenJobs(later(restedMs), memory)).toBe(0);
    expect(await repairOpenJobs(later(restedMs), memory)).toBe(1);
    expect(await use.store.jobs.hasQueueEntry(await use.job(last))).toBe(true);
    // The next scan starts from the beginning, the one after it reaches the end.
    const newest = await use.submit();
    await lose('jobs', newest);
    await repairOpenJobs(later(restedMs), memory);
    expect(await repairOpenJobs(later(restedMs), memory)).toBe(1);
  });
});

describe('leaked slots', () => {
  it('of workers and the license are released, and slots in use are kept', async () => {
    const { ctx } = await use.start({ plan: 'community' });
    const worker = await use.rawWorker({ id: 'w1', max: 5 });
    const busy = await use.submit();
    await worker.dispatched(busy);
    const done = await use.submit();
    await worker.answer(await worker.dispatched(done));
    await use.until(done, 'SUCCEEDED');
    const sets = [keys.workerInFlight('w1'), keys.allInFlight()];
    for (const set of sets) await use.redis.sadd(set, done, 'unknown');

    // The scheduler's own loop may have repaired them already.
    await repairSlots(ctx);

    for (const set of sets) expect(await use.redis.smembers(set)).toEqual([busy]);
  });
});
