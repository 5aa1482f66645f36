import { recheckWaiting } from '@svc/dispatch';
import type { NewJobPlacement } from '@svc/jobs';
import { keys } from '@svc/store';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();

/** Submits to a gateway that adds jobs to their lanes only. */
async function lanes() {
  const { placement } = await use.gateway({ mayDispatch: false });
  return (...args: [body?: Parameters<typeof use.place>[1], tenant?: string]) => use.place(placement, ...args);
}

/** Entries in the queue of undecided jobs. */
const undecided = () => use.redis.zcard(keys.queue('jobs', 'prioritized'));
const decisions = async (id: string) => (await use.store.jobs.decisions(id, 9)).map(({ source }) => source);

describe('a permitted job, added to its lane at submission', () => {
  it('runs by the decision of its submission, without another one', async () => {
    const { events } = await use.start();
    const place = await lanes();
    await use.worker({ id: 'w1' });
    use.broken.add('check');

    const id = await place();

    await use.until(id, 'SUCCEEDED', { decided: 'submission', attempts: 1 });
    expect(await decisions(id)).toEqual(['gateway']);
    expect(events.filter(([name]) => name === 'received')).toHaveLength(1);
  });

  it('is dispatched promptly from a lane that was idle, without the sweep', async () => {
    await use.start({ withoutLoops: true });
    const place = await lanes();
    const worker = await use.rawWorker({ id: 'w1', max: 1 });
    const first = await place();
    await worker.answer(await worker.dispatched(first));
    await use.until(first, 'SUCCEEDED');

    const second = await place({ topic: 'job.other' });

    await worker.answer(await worker.dispatched(second));
    await use.until(second, 'SUCCEEDED');
  });

  it('is decided again when policy changes between its decision and the accepting call', async () => {
    await use.start({ policy: ruled('allow') });
    const worker = await use.rawWorker({ id: 'w1' });
    const gateway = await use.gateway();
    await gateway.knows('w1');
    const slow: NewJobPlacement = {
      async propose(job) {
        const proposal = await gateway.placement.propose(job);
        await use.policy(ruled('deny'));
        return proposal;
      },
    };

    const id = await use.place(slow);

    await use.until(id, 'DENIED');
    expect(await decisions(id)).toEqual(['scheduler', 'gateway']);
    expect(worker.received).toEqual([]);
  });

  it('is decided again when policy changes while it waits', async () => {
    await use.start({ policy: ruled('allow') });
    const place = await lanes();
    const id = await place();
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });

    await use.policy(ruled('deny'));
    await use.rawWorker({ id: 'w1' });

    await use.until(id, 'DENIED');
  });

  it('counts once in a velocity window', async () => {
    const limit = 'velocity: {max_requests: 2, window_seconds: 60, key: tenant}\nthrottle_duration: 5s';
    await use.start({ policy: `${ruled('throttle', limit)}  - {id: ok, decision: allow}\n` });
    const place = await lanes();
    await use.worker({ id: 'w1' });

    const ids = [await place(), await place()];

    for (const id of ids) await use.until(id, 'SUCCEEDED');
    await expect(place()).rejects.toThrow('throttled by policy');
  });

  it('is compared with shadow policies once, also when it is checked again', async () => {
    const { ctx, later } = await use.start();
    const place = await lanes();
    const compared = jest.spyOn(ctx.shadows, 'decided');
    const id = await place();

    await recheckWaiting(later(11 * 60_000), id);
    await use.until(id, 'PENDING', { parked: 'jobWaiting', safety: expect.objectContaining({ source: 'scheduler' }) });

    expect(compared).toHaveBeenCalledTimes(1);
  });

  it('keeps the constraints of its decision', async () => {
    await use.start({ policy: ruled('allow_with_constraints', 'constraints: {budgets: {max_concurrent_jobs: 1}}') });
    const place = await lanes();
    const worker = await use.rawWorker({ id: 'w1', max: 5 });

    const [first, second] = [await place(), await place()];

    const request = await worker.dispatched(first);
    await use.until(second, 'PENDING', { waiting_reason: 'tenant_limit' });
    await worker.answer(request);
    await worker.dispatched(second);
  });
});

describe('a job that needs more than one call', () => {
  it.each([
    ['is critical', { priority: 'critical' as const }, {}],
    ['does not fit in its budget', { estimated_cost: 3 }, { budget: { daily_limit_usd: 2 } }],
    [
      'exceeds a limit per job that only alerts',
      { estimated_cost: 6 },
      { budget: { per_job_max_usd: 5, action_at_limit: 'alert' } },
    ],
  ])('that %s goes to the queue of undecided jobs', async (_, body, config) => {
    await use.start({ config, idle: true });
    const place = await lanes();

    const id = await place(body);

    expect(await use.job(id)).toMatchObject({ state: 'PENDING', parked: '', lane: '' });
    expect(await undecided()).toBe(1);
  });

  it('that is held for approval is not placed', async () => {
    await use.start({ policy: ruled('require_approval') });
    const place = await lanes();
    await use.worker({ id: 'w1' });

    const id = await place();

    await use.until(id, 'APPROVAL_REQUIRED');
    await use.approve(id);
    await use.until(id, 'SUCCEEDED');
    expect((await use.job(id)).decided).toBeUndefined();
  });
});
