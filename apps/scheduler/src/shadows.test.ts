import { putShadow } from '@svc/policy-lab';
import { eventually, person } from '@svc/testing';
import type { Scheduler } from './scheduler.testing';
import { allowAll, ruled, useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const bundle = 'secops/invariants';
const ban = 'rules: [{ id: banned, decision: deny, match: { topics: ["job.*"] } }]';

const ofJob = async (id: string, tenant = 'acme') => {
  const all = { fromMs: 0, toMs: Date.now() + 3_600_000, limit: 10_000 };
  return (await use.store.shadowResults.page(tenant, bundle, all)).filter(({ job_id }) => job_id === id);
};

/** Stores a bundle and a tenant's shadow of it, for schedulers that start later. */
async function given({ live = 'rules: []', content = ban, tenant = 'acme' } = {}): Promise<void> {
  await use.document('system', 'policy', { bundles: { [bundle]: { content: live, enabled: true } } });
  const shadow = {
    ...{ shadow_bundle_id: `shadow-of-${tenant}`, bundle_id: bundle, tenant_id: tenant, created_by: 'ann' },
    ...{ created_at: '', activated_at: '', metadata: {}, bytes: content.length, content },
  };
  await use.store.shadows.write(tenant, bundle, { read: '', shadow, audit: { tenant, entry: '' } });
}

/** Stopping a scheduler writes all pending shadow results. */
const stopped = (...schedulers: Scheduler[]) => Promise.all(schedulers.map((scheduler) => scheduler.stop()));

describe('a shadow policy of a tenant', () => {
  it('is evaluated once per job, although gateway and scheduler both decide, and changes no decision', async () => {
    await given();
    const scheduler = await use.start();
    await use.worker({ id: 'w1' });

    const id = await use.submit();

    await use.until(id, 'SUCCEEDED');
    await eventually(async () =>
      expect(await scheduler.metrics()).toMatch(/^svc_shadow_eval_total\{.*decision="DENY",diff="escalated"/m),
    );
    await stopped(scheduler);
    expect(await ofJob(id)).toMatchObject([
      {
        shadow_bundle_id: 'shadow-of-acme',
        active_verdict: 'ALLOW',
        shadow_verdict: 'DENY',
        diff: 'escalated',
        severity: 'MEDIUM',
        active_rule_id: '',
        shadow_rule_id: 'banned',
      },
    ]);
  });

  it('replaces its bundle in the evaluation: rules of the bundle do not apply', async () => {
    await given({ live: ban, content: 'rules: []' });
    const scheduler = await use.start();

    const refused = await use.submit().catch((error: { extras: { job_id: string } }) => error.extras.job_id);

    await use.until(refused, 'DENIED');
    await stopped(scheduler);
    expect(await ofJob(refused)).toMatchObject([
      {
        active_verdict: 'DENY',
        shadow_verdict: 'ALLOW',
        diff: 'relaxed',
        active_rule_id: 'banned',
        shadow_rule_id: '',
      },
    ]);
  });

  it('is loaded by a running service when its change is published', async () => {
    await use.document('system', 'policy', { bundles: { [bundle]: { content: 'rules: []', enabled: false } } });
    const { ctx } = await use.start();
    const deps = { ...ctx, maxContentBytes: 100_000, onNoticeFailed: () => undefined };

    await putShadow(deps, person('ann', { tenant: 'acme' }), { id: bundle, content: ban, metadata: {} });

    await eventually(
      async () => {
        const id = await use.submit();
        await eventually(async () => expect(await ofJob(id)).toHaveLength(1), { withinMs: 500 });
      },
      { withinMs: 15_000 },
    );
  });

  it('has one result for a job that is held, approved and run', async () => {
    await given();
    const scheduler = await use.start({ policy: ruled('require_approval') });
    await use.worker({ id: 'w1' });
    const id = await use.submit();
    await use.until(id, 'APPROVAL_REQUIRED');

    await use.approve(id);

    await use.until(id, 'SUCCEEDED');
    await stopped(scheduler);
    expect(await ofJob(id)).toMatchObject([
      { active_verdict: 'REQUIRE_APPROVAL', shadow_verdict: 'DENY', diff: 'approval_differ' },
    ]);
  });

  it('has one result for a throttled job that is evaluated repeatedly, and another under a new policy', async () => {
    await given();
    const gateway = await use.start({ policy: allowAll, idle: true });
    const id = await use.submit();
    await use.policy(ruled('throttle', 'throttle_duration: 1s'));
    const scheduler = await use.start();
    await eventually(
      () => {
        const throttled = scheduler.events.filter(([name, , why]) => name === 'waiting' && why === 'throttled');
        expect(throttled.length).toBeGreaterThan(2);
      },
      { withinMs: 15_000 },
    );

    await use.policy(allowAll);
    await use.worker({ id: 'w1' });
    await use.until(id, 'SUCCEEDED');

    await stopped(scheduler, gateway);
    expect((await ofJob(id)).map(({ active_verdict }) => active_verdict)).toEqual(['ALLOW', 'THROTTLE']);
  });

  it('has one result for a job that is retried', async () => {
    await given();
    const scheduler = await use.start();
    let tries = 0;
    await use.rawWorker({ id: 'w1', answers: () => [(tries += 1) > 1 ? 'SUCCEEDED' : 'FAILED_RETRYABLE'] });
    const id = await use.submit();

    await use.until(id, 'SUCCEEDED', { attempts: 2 });

    await stopped(scheduler);
    expect(await ofJob(id)).toHaveLength(1);
  });

  it('counts toward no velocity window', async () => {
    const velocity = 'velocity: { max_requests: 1, window_seconds: 60, key: tenant }';
    const pace = `rules: [{ id: pace, decision: deny, match: { topics: ["job.*"] }, ${velocity} }]`;
    await given({ content: pace });
    const scheduler = await use.start();
    await use.rawAnswering('SUCCEEDED');

    const ids = await Promise.all([use.submit(), use.submit(), use.submit()]);
    for (const id of ids) await use.until(id, 'SUCCEEDED');

    await stopped(scheduler);
    for (const id of ids) expect(await ofJob(id)).toMatchObject([{ diff: 'unchanged' }]);
    expect(await use.redis.keys('svc:velocity:*')).toEqual([]);
  });

  it('is not evaluated for jobs of other tenants', async () => {
    await given({ tenant: 'globex' });
    const scheduler = await use.start();
    await use.rawAnswering('SUCCEEDED');

    const [ours, theirs] = [await use.submit(), await use.submit({}, 'globex')];
    for (const id of [ours, theirs]) await use.until(id, 'SUCCEEDED');

    await stopped(scheduler);
    expect(await ofJob(theirs, 'globex')).toHaveLength(1);
    expect([...(await ofJob(ours)), ...(await ofJob(ours, 'globex')), ...(await ofJob(theirs))]).toEqual([]);
  });

  it('is not evaluated when SVC_SHADOW_EVAL_DISABLED is set', async () => {
    await given();
    const scheduler = await use.start({ env: { shadowEvalDisabled: true } });
    await use.rawAnswering('SUCCEEDED');
    const id = await use.submit();

    await use.until(id, 'SUCCEEDED');

    await stopped(scheduler);
    expect(await ofJob(id)).toEqual([]);
  });

  it('has its pending results written before the service exits', async () => {
    await given();
    const scheduler = await use.start({ idle: true });
    const { shadows, kernel } = scheduler.ctx;
    const request = { topic: 'job.a', tenant: 'acme', job_id: 'last' };
    const decision = await kernel.simulate(request);
    for (let i = 0; i < 300; i++) shadows.decided({ request, decision });

    await stopped(scheduler);

    expect(await ofJob('last')).toHaveLength(300);
  });
});
