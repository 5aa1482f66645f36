import { readJobExplanation } from '@svc/explain';
import type { NewJobPlacement } from '@svc/jobs';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();

const one = (strategy: 'queue' | 'cancel_oldest' = 'queue') => ({ concurrency: { key: 'k', limit: 1, strategy } });

/** A gateway that stops after the accepting call, like one that is killed there. */
const killed = (placement: NewJobPlacement): NewJobPlacement => ({
  async propose(job) {
    const proposal = await placement.propose(job);
    return proposal && { place: proposal.place, settle: () => undefined };
  },
});

describe('jobs of a concurrency key', () => {
  it('run one at a time, whether two gateways place them or the scheduler decides, and all end', async () => {
    await use.start();
    let running = 0;
    let most = 0;
    await use.worker({
      id: 'w1',
      concurrency: 8,
      topics: {
        'job.>': async () => {
          most = Math.max(most, ++running);
          // Other jobs could start here.
          await use.redis.ping();
          running--;
          return {};
        },
      },
    });
    const gateways = await Promise.all([use.gateway(), use.gateway()]);
    for (const gateway of gateways) await gateway.knows('w1');

    const ids = await Promise.all(
      Array.from({ length: 9 }, (_, i) => {
        const placement = gateways[i % 3]?.placement;
        return placement ? use.place(placement, one()) : use.submit(one());
      }),
    );

    for (const id of ids) await use.until(id, 'SUCCEEDED');
    expect(most).toBe(1);
  });

  it('a waiting job is explained by the jobs that hold its key, and runs when they end, also when its gateway died', async () => {
    const { ctx } = await use.start();
    const worker = await use.rawWorker({ id: 'w1', max: 5 });
    const gateway = await use.gateway();
    await gateway.knows('w1');
    const first = await use.place(gateway.placement, one());
    await use.until(first, 'RUNNING');
    const id = await use.place(killed(gateway.placement), one());
    await use.until(id, 'PENDING', { waiting_reason: 'concurrency_limit' });

    const settings = { ...ctx.settings, workerTtlMs: 30_000 };
    expect((await readJobExplanation({ ...ctx, settings }, 'acme', id)).blocked_by).toMatchObject({
      kind: 'concurrency_limit',
      what: `1 of 1 places of the concurrency key k are held by ${first}`,
      owner: { kind: 'request', id: 'concurrency.key', value: 'k' },
    });

    await worker.answer(await worker.dispatched(first), 'SUCCEEDED');
    await use.until(id, 'RUNNING', { worker_id: 'w1' });
  });

  it('cancel_oldest notifies the worker of the cancelled job, and the new one starts', async () => {
    await use.start();
    await use.rawWorker({ id: 'w1', max: 5 });
    const first = await use.submit(one('cancel_oldest'));
    await use.until(first, 'RUNNING');

    const second = await use.submit(one('cancel_oldest'));

    await use.until(first, 'CANCELLED', { error_code: 'concurrency_limit' });
    await use.published('job_cancel', 'sys.job.cancel', first);
    await use.until(second, 'RUNNING');
  });

  it('starts of a rate beyond its limit wait, and continue when a period is over', async () => {
    const { ctx } = await use.start({ idle: true });
    await use.rawAnswering('SUCCEEDED', {}, 'w1');
    const gateway = await use.gateway();
    await gateway.knows('w1');
    const rate = { rate: { key: 'r', limit: 1, per: '1h' } };
    await use.until(await use.place(gateway.placement, rate), 'RUNNING');
    const id = await use.place(gateway.placement, rate);
    await use.until(id, 'PENDING', { waiting_reason: 'rate_limit' });

    await ctx.store.limits.open(Date.now() + 3_700_000);
    expect(await use.job(id)).toMatchObject({ lane: expect.stringContaining('job.work') as string });
  });
});
