import { readJobExplanation } from '@svc/explain';
import { openQueue } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { eventually } from '@svc/testing';
import type { SchedulerPlan } from './scheduler.testing';
import { ruled, useScheduler } from './use-scheduler.testing';
import { giveCredential } from './worker-credentials.testing';

const use = useScheduler();

/** A scheduler, and the explanation that the gateway would return. */
async function start(plan: SchedulerPlan & { policy?: string; config?: object } = {}) {
  const { ctx } = await use.start(plan);
  const settings = { ...ctx.settings, workerTtlMs: 30_000 };
  const explain = (id: string, tenant = 'acme') => readJobExplanation({ ...ctx, settings }, tenant, id);
  /** Waits for the explanation to match: the snapshot of workers may be slightly stale. */
  const blocked = (id: string, kind: string, more: object = {}) =>
    eventually(async () => {
      const explanation = await explain(id);
      expect(explanation.blocked_by).toMatchObject({ kind, ...more });
      return explanation;
    });
  return { explain, blocked };
}

const rule = (value: unknown) => ({ owner: { kind: 'policy_rule', id: 'the-rule', value } });

describe('the explanation of a job that does not run', () => {
  it('names the missing worker of its pool; the job runs once a worker starts', async () => {
    const { explain, blocked } = await start();
    const id = await use.submit();

    await blocked(id, 'no_workers', { owner: { kind: 'pool', id: 'main' }, clears_at: null });
    await use.rawWorker({ id: 'w1' });

    await use.until(id, 'RUNNING');
    expect(await explain(id)).toMatchObject({ blocked_by: null, held_by: { worker_id: 'w1', pool: 'main' } });
  });

  it('names the credential when it permits no worker to run the job, and no worker of another tenant', async () => {
    const { explain, blocked } = await start({ env: { workerAttestation: 'enforce' } });
    const token = await giveCredential(use.store, { worker: 'theirs', tenant: 'globex' });
    await use.rawWorker({ id: 'theirs', token });
    const id = await use.submit();

    await blocked(id, 'worker_credential', { owner: { kind: 'pool', id: 'main' } });
    expect(JSON.stringify(await explain(id))).not.toMatch(/theirs|globex/);

    const own = await use.rawWorker({
      id: 'own',
      token: await giveCredential(use.store, { worker: 'own', tenant: 'acme' }),
    });
    await own.dispatched(id);
  });

  it('names the full worker and counts only jobs of its own tenant ahead of it', async () => {
    const { blocked } = await start();
    await use.rawWorker({ id: 'w1' });
    await use.until(await use.submit(), 'RUNNING');
    await use.until(await use.submit({}, 'globex'), 'PENDING', { waiting_reason: 'pool_overloaded' });
    await use.until(await use.submit(), 'PENDING', { waiting_reason: 'pool_overloaded' });
    const id = await use.submit();
    await use.until(id, 'PENDING', { waiting_reason: 'pool_overloaded' });

    const explanation = await blocked(id, 'workers_full', { owner: { kind: 'pool', id: 'main', value: 1 } });

    const turn = explanation.checks.find(({ check }) => check === 'turn');
    expect(turn).toMatchObject({ outcome: 'would_block' });
    expect(turn?.detail).toMatch(/^1 of its own tenant’s jobs( and jobs of other tenants)? are before it$/);
  });

  it('names the rule that limits its tenant to one running job', async () => {
    const { blocked } = await start({
      policy: ruled('allow_with_constraints', 'constraints: { budgets: { max_concurrent_jobs: 1 } }'),
    });
    await use.rawWorker({ id: 'w1', max: 5 });
    await use.until(await use.submit(), 'RUNNING');

    const explanation = await blocked(await use.submit(), 'tenant_limit', rule(1));

    expect(explanation.checks.find(({ check }) => check === 'slots')?.outcome).toBe('passed');
  });

  it('names the license limit on concurrent jobs', async () => {
    const { blocked } = await start({ plan: 'community' });
    await use.rawWorker({ id: 'w1', max: 10 });
    for (const id of [await use.submit(), await use.submit(), await use.submit()]) await use.until(id, 'RUNNING');

    await blocked(await use.submit(), 'license_limit', { owner: { kind: 'license', value: 3 } });
  });

  it('names the throttling rule, and clears when the queue redelivers the job', async () => {
    await use.start({ idle: true });
    const id = await use.submit();
    await use.policy(ruled('throttle', 'throttle_duration: 40s'));
    const { blocked } = await start();

    const explanation = await blocked(id, 'throttled', rule('THROTTLE'));

    const { checked_at = 0 } = (await use.job(id)).safety ?? {};
    const waitMs = Date.parse(explanation.blocked_by?.clears_at ?? '') - checked_at / 1_000;
    expect(Math.round(waitMs / 10_000)).toBe(4);
  });

  it('says that policy is unavailable', async () => {
    use.broken.add('check');
    const { blocked } = await start();

    await blocked(await use.submit(), 'policy_unavailable', {
      owner: { kind: 'setting', id: 'POLICY_CHECK_FAIL_MODE', value: 'closed' },
      next_try_at: expect.any(String) as string,
    });
  });

  it('names the pending approval and its expiry, and after a rejection its author', async () => {
    const { explain, blocked } = await start({ policy: ruled('require_approval') });
    const id = await use.submit();

    const explanation = await blocked(id, 'approval', rule('REQUIRE_APPROVAL'));
    expect(explanation.gives_up).toMatchObject({ as: 'DENIED', owner: { id: 'SVC_APPROVAL_TTL' } });
    await use.reject(id);

    const { ended_by, blocked_by } = await explain(id);
    expect(blocked_by).toBeNull();
    expect(ended_by).toMatchObject({ code: 'approval_rejected', owner: { kind: 'approval', value: expect.any(String) as string } });
  }); // prettier-ignore

  it('names the retry backoff after a failure', async () => {
    const { blocked } = await start({ config: { retry: { max_retries: 3, initial_backoff: '30s' } } });
    await use.rawAnswering('FAILED_RETRYABLE', { error_message: 'try me later' });

    const explanation = await blocked(await use.submit(), 'retry_backoff', { owner: { id: 'retry.initial_backoff', value: '30s' } });

    expect(explanation.blocked_by?.what).toContain('try me later');
    expect(explanation.blocked_by?.clears_at).not.toBeNull();
  }); // prettier-ignore

  it('says that an operator paused the queue', async () => {
    const { blocked } = await start();
    const queue = openQueue(queues.jobs, { url: use.servers.redisUrl });
    await queue.pause();

    await blocked(await use.submit(), 'queue_paused', { owner: { kind: 'queue', id: 'jobs', value: 'paused' } });

    await queue.resume();
    await queue.close();
  });

  it('says that no scheduler is running', async () => {
    const scheduler = await use.start({ idle: true });
    const id = await use.submit();
    const settings = { ...scheduler.ctx.settings, workerTtlMs: 30_000 };

    const explanation = await readJobExplanation({ ...scheduler.ctx, settings }, 'acme', id);

    expect(explanation.blocked_by).toMatchObject({ kind: 'no_scheduler', owner: { kind: 'service', id: 'scheduler' } });
  });
});
