import { readJobExplanation } from '@svc/explain';
import { openQueue } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { eventually } from '@svc/testing';
import type { SchedulerPlan } from './scheduler.testing';
import { ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();

/** A scheduler, and what the gateway would answer beside it. */
async function start(plan: SchedulerPlan & { policy?: string; config?: object } = {}) {
  const { ctx } = await use.start(plan);
  const settings = { ...ctx.settings, workerTtlMs: 30_000 };
  const explain = (id: string, tenant = 'acme') => readJobExplanation({ ...ctx, settings }, tenant, id);
  /** Once it is so; the picture of workers may be a moment old. */
  const blocked = (id: string, kind: string, more: object = {}) =>
    eventually(async () => {
      const told = await explain(id);
      expect(told.blocked_by).toMatchObject({ kind, ...more });
      return told;
    });
  return { explain, blocked };
}

const rule = (value: unknown) => ({ owner: { kind: 'policy_rule', id: 'the-rule', value } });

describe('why a job does not run', () => {
  it('no worker of its pool lives; then one does, and it runs', async () => {
    const { explain, blocked } = await start();
    const id = await use.submit();

    await blocked(id, 'no_workers', { owner: { kind: 'pool', id: 'main' }, clears_at: null });
    await use.rawWorker({ id: 'w1' });

    await use.until(id, 'RUNNING');
    expect(await explain(id)).toMatchObject({ blocked_by: null, held_by: { worker_id: 'w1', pool: 'main' } });
  });

  it('its worker is full, and who goes before it is counted for its own tenant only', async () => {
    const { blocked } = await start();
    await use.rawWorker({ id: 'w1' });
    await use.until(await use.submit(), 'RUNNING');
    await use.until(await use.submit({}, 'globex'), 'PENDING', { waiting_reason: 'pool_overloaded' });
    await use.until(await use.submit(), 'PENDING', { waiting_reason: 'pool_overloaded' });
    const id = await use.submit();
    await use.until(id, 'PENDING', { waiting_reason: 'pool_overloaded' });

    const told = await blocked(id, 'workers_full', { owner: { kind: 'pool', id: 'main', value: 1 } });

    const turn = told.checks.find(({ check }) => check === 'turn');
    expect(turn).toMatchObject({ outcome: 'would_block' });
    expect(turn?.detail).toMatch(/^1 of its own tenant’s jobs( and jobs of other tenants)? are before it$/);
  });

  it('a rule lets its tenant run one at a time', async () => {
    const { blocked } = await start({
      policy: ruled('allow_with_constraints', 'constraints: { budgets: { max_concurrent_jobs: 1 } }'),
    });
    await use.rawWorker({ id: 'w1', max: 5 });
    await use.until(await use.submit(), 'RUNNING');

    const told = await blocked(await use.submit(), 'tenant_limit', rule(1));

    expect(told.checks.find(({ check }) => check === 'slots')?.outcome).toBe('passed');
  });

  it('the license lets only so many run', async () => {
    const { blocked } = await start({ plan: 'community' });
    await use.rawWorker({ id: 'w1', max: 10 });
    for (const id of [await use.submit(), await use.submit(), await use.submit()]) await use.until(id, 'RUNNING');

    await blocked(await use.submit(), 'license_limit', { owner: { kind: 'license', value: 3 } });
  });

  it('a rule throttles it, and it clears when the queue brings it again', async () => {
    await use.start({ idle: true });
    const id = await use.submit();
    await use.policy(ruled('throttle', 'throttle_duration: 40s'));
    const { blocked } = await start();

    const told = await blocked(id, 'throttled', rule('THROTTLE'));

    const { checked_at = 0 } = (await use.job(id)).safety ?? {};
    const waitMs = Date.parse(told.blocked_by?.clears_at ?? '') - checked_at / 1_000;
    expect(Math.round(waitMs / 10_000)).toBe(4);
  });

  it('policy does not answer', async () => {
    use.broken.add('check');
    const { blocked } = await start();

    await blocked(await use.submit(), 'policy_unavailable', {
      owner: { kind: 'setting', id: 'POLICY_CHECK_FAIL_MODE', value: 'closed' },
      next_try_at: expect.any(String) as string,
    });
  });

  it('a person must approve it, until when; and once rejected, who did', async () => {
    const { explain, blocked } = await start({ policy: ruled('require_approval') });
    const id = await use.submit();

    const told = await blocked(id, 'approval', rule('REQUIRE_APPROVAL'));
    expect(told.gives_up).toMatchObject({ as: 'DENIED', owner: { id: 'SVC_APPROVAL_TTL' } });
    await use.reject(id);

    const { ended_by, blocked_by } = await explain(id);
    expect(blocked_by).toBeNull();
    expect(ended_by).toMatchObject({ code: 'approval_rejected', owner: { kind: 'approval', value: expect.any(String) as string } });
  }); // prettier-ignore

  it('it pauses after a failure', async () => {
    const { blocked } = await start({ config: { retry: { max_retries: 3, initial_backoff: '30s' } } });
    await use.rawAnswering('FAILED_RETRYABLE', { error_message: 'try me later' });

    const told = await blocked(await use.submit(), 'retry_backoff', { owner: { id: 'retry.initial_backoff', value: '30s' } });

    expect(told.blocked_by?.what).toContain('try me later');
    expect(told.blocked_by?.clears_at).not.toBeNull();
  }); // prettier-ignore

  it('an operator paused the queue', async () => {
    const { blocked } = await start();
    const queue = openQueue(queues.jobs, { url: use.servers.redisUrl });
    await queue.pause();

    await blocked(await use.submit(), 'queue_paused', { owner: { kind: 'queue', id: 'jobs', value: 'paused' } });

    await queue.resume();
    await queue.close();
  });

  it('no scheduler runs', async () => {
    const scheduler = await use.start({ idle: true });
    const id = await use.submit();
    const settings = { ...scheduler.ctx.settings, workerTtlMs: 30_000 };

    const told = await readJobExplanation({ ...scheduler.ctx, settings }, 'acme', id);

    expect(told.blocked_by).toMatchObject({ kind: 'no_scheduler', owner: { kind: 'service', id: 'scheduler' } });
  });
});
