import { StartWrites } from '@svc/dispatch';
import { waitingPlan } from '@svc/fixtures/store';
import { type DispatchedJob, parseHistory } from '@svc/store';
import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

describe('the write of RUNNING', () => {
  const use = useScheduler();

  /** A job dispatched to a worker, and the writes of its start, without a process that handles its result. */
  async function dispatched() {
    const { ctx, bus } = await use.start({ idle: true });
    const id = await use.submit();
    await use.store.jobs.admit(id, { ...waitingPlan, worker: { id: 'w1', pool: 'main', max: 1 }, set: {} });
    const job: DispatchedJob = { ...(await use.job(id)), worker_id: 'w1', dispatch_id: 'd1' };
    const failed: unknown[] = [];
    const writes = new StartWrites({ ...ctx, events: { startFailed: (_, error) => void failed.push(error) } });
    return { job, bus, writes, failed, startedAt: ctx.clock.nowUs() };
  }

  const cancels = () => use.packets.filter(({ subject }) => subject === 'sys.job.cancel');

  it('is left to the end of a short job, which records in the history when it started', async () => {
    await use.start();
    const worker = await use.rawWorker({ id: 'w1', answers: () => ['SUCCEEDED'] });
    const id = await use.submit();

    const job = await use.until(id, 'SUCCEEDED');

    const [, dispatched, started, ended] = parseHistory(await use.redis.hget(`{s0}:job:${id}`, 'history'));
    expect(worker.order()).toEqual([id]);
    expect(started).toMatchObject({ event: 'start', from: 'DISPATCHED', to: 'RUNNING', at: job.started_at });
    expect(ended).toMatchObject({ event: 'succeed', from: 'RUNNING', at: job.completed_at });
    expect(dispatched?.at).toBe(job.dispatched_at);
  });

  it('follows the confirmation of the bus for a job that continues', async () => {
    const { job, writes, failed, startedAt } = await dispatched();

    writes.expect(job, startedAt);
    writes.confirm(job, 7);
    await use.until(job.id, 'RUNNING', { started_at: startedAt, dispatch_seq: 7 });

    await writes.flush();
    expect(failed).toEqual([]);
    expect(await use.path(job.id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING']);
  });

  it('is omitted without a confirmation, and for a dispatch that has ended', async () => {
    const { job, writes, startedAt } = await dispatched();

    writes.expect(job, startedAt);
    await writes.flush();
    writes.drop(job.id);
    writes.confirm(job, 7);
    writes.expect(job, startedAt);
    writes.confirm({ ...job, dispatch_id: 'another' }, 8);
    await writes.flush();

    expect(await use.path(job.id)).toEqual(['PENDING', 'DISPATCHED']);
  });

  it('cancels a job again that was cancelled before the bus had its dispatch', async () => {
    const { job, writes, failed, startedAt } = await dispatched();

    writes.expect(job, startedAt);
    await use.store.jobs.move('*', job.id, 'cancel');
    await eventually(async () => expect(Date.now() * 1_000).toBeGreaterThan((await use.job(job.id)).updated_at));
    writes.confirm(job, 7);
    await writes.flush();

    await eventually(() => expect(cancels()).toHaveLength(1));
    expect(failed).toEqual([]);
  });

  it.each(['cancel', 'preempt', 'retry'] as const)(
    'repeats no cancel after the event %s of a confirmed dispatch',
    async (event) => {
      const { job, bus, writes, failed, startedAt } = await dispatched();

      writes.expect(job, startedAt);
      writes.confirm(job, 7);
      await use.store.jobs.move('*', job.id, event);
      await writes.flush();
      await bus.flush();
      await use.bus.flush();

      expect(failed).toEqual([]);
      expect(cancels()).toEqual([]);
    },
  );
});
