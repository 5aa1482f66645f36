import { heartbeatPacket } from '@svc/contract';
import { decideJob } from '@svc/services';
import { eventually } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();

const heartbeatOf = (worker_id: string) =>
  heartbeatPacket({ trace_id: '', sender_id: worker_id, nowUs: 1 }, { worker_id, pool: 'main', max_parallel_jobs: 1 });

describe('a worker whose heartbeats have expired', () => {
  const env = { workerHeartbeatTtlMs: 500 };
  const expired = (ctx: Awaited<ReturnType<typeof use.start>>['ctx'], id: string) =>
    eventually(() => expect(ctx.registry.silent(Date.now())).toContain(id));

  it('gets no job before the sweep has removed it, and the next live one gets all', async () => {
    // Without the loops nothing removes it: this is the moment before the sweep.
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
    const { body } = heartbeatOf('w1');
    ctx.registry.heartbeat(body, Date.now() - 1_000);
    ctx.registry.hearing(Date.now() - 1_000);

    await ctx.handOut.forWorker('w1');

    expect(await use.job(id)).toMatchObject({ state: 'PENDING', attempts: 0 });
  });

  it('gets waiting jobs at once when it is heard again', async () => {
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
