import { openPlacement, recheckWaiting } from '@svc/dispatch';
import type { NewJobPlacement } from '@svc/jobs';
import { keys } from '@svc/store';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();

/** Entries in the queue of undecided jobs. */
const undecided = () => use.redis.zcard(keys.queue('jobs', 'prioritized'));
const decisions = async (id: string) => (await use.store.jobs.decisions(id, 9)).map(({ source }) => source);

describe('a permitted job, placed at submission', () => {
  it('runs by the decision of its submission, without another one', async () => {
    const { events } = await use.start();
    await use.worker({ id: 'w1' });
    use.broken.add('check');

    const id = await use.place();

    await use.until(id, 'SUCCEEDED', { decided: 'submission', attempts: 1 });
    expect(await decisions(id)).toEqual(['gateway']);
    expect(events.filter(([name]) => name === 'received')).toHaveLength(1);
  });

  it('is dispatched promptly from a lane that was idle, without the sweep', async () => {
    await use.start({ withoutLoops: true });
    const worker = await use.rawWorker({ id: 'w1', max: 1 });
    const first = await use.place();
    await worker.answer(await worker.dispatched(first));
    await use.until(first, 'SUCCEEDED');

    const second = await use.place({ topic: 'job.other' });

    await worker.answer(await worker.dispatched(second));
    await use.until(second, 'SUCCEEDED');
  });

  it('is decided again when policy changes between its decision and the accepting call', async () => {
    const { ctx } = await use.start({ policy: ruled('allow') });
    const real = openPlacement(ctx);
    const slow: NewJobPlacement = {
      async propose(job) {
        const proposal = await real.propose(job);
        await use.policy(ruled('deny'));
        return proposal;
      },
    };

    const id = await use.place({}, 'acme', slow);

    await use.until(id, 'DENIED');
    expect(await decisions(id)).toEqual(['scheduler', 'gateway']);
  });

  it('is decided again when policy changes while it waits', async () => {
    await use.start({ policy: ruled('allow') });
    const id = await use.place();
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });

    await use.policy(ruled('deny'));
    await use.rawWorker({ id: 'w1' });

    await use.until(id, 'DENIED');
  });

  it('counts once in a velocity window', async () => {
    const limit = 'velocity: {max_requests: 2, window_seconds: 60, key: tenant}\nthrottle_duration: 5s';
    await use.start({ policy: `${ruled('throttle', limit)}  - {id: ok, decision: allow}\n` });
    await use.worker({ id: 'w1' });

    const ids = [await use.place(), await use.place()];

    for (const id of ids) await use.until(id, 'SUCCEEDED');
    await expect(use.place()).rejects.toThrow('throttled by policy');
  });

  it('is compared with shadow policies once, also when it is checked again', async () => {
    const { ctx, later } = await use.start();
    const compared = jest.spyOn(ctx.shadows, 'decided');
    const id = await use.place();

    await recheckWaiting(later(11 * 60_000), id);
    await use.until(id, 'PENDING', { parked: 'jobWaiting', safety: expect.objectContaining({ source: 'scheduler' }) });

    expect(compared).toHaveBeenCalledTimes(1);
  });

  it('keeps the constraints of its decision', async () => {
    await use.start({ policy: ruled('allow_with_constraints', 'constraints: {budgets: {max_concurrent_jobs: 1}}') });
    const worker = await use.rawWorker({ id: 'w1', max: 5 });

    const [first, second] = [await use.place(), await use.place()];

    const request = await worker.dispatched(first);
    await use.until(second, 'PENDING', { waiting_reason: 'tenant_limit' });
    await worker.answer(request);
    await worker.dispatched(second);
  });
});

describe('a job that needs more than one call', () => {
  it.each([
    ['is critical', { priority: 'critical' as const }, {}],
    ['has a budget', {}, { budget: { daily_limit_usd: 5 } }],
  ])('that %s goes to the queue of undecided jobs', async (_, body, config) => {
    await use.start({ config, idle: true });

    const id = await use.place(body);

    expect(await use.job(id)).toMatchObject({ state: 'PENDING', parked: '', lane: '' });
    expect(await undecided()).toBe(1);
  });

  it('that is held for approval is not placed', async () => {
    await use.start({ policy: ruled('require_approval') });
    await use.worker({ id: 'w1' });

    const id = await use.place();

    await use.until(id, 'APPROVAL_REQUIRED');
    await use.approve(id);
    await use.until(id, 'SUCCEEDED');
    expect((await use.job(id)).decided).toBeUndefined();
  });
});
