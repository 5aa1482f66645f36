import { approveJob } from '@svc/approvals';
import { eventually, person } from '@svc/testing';
import { useEngine } from './use-engine.testing';

const use = useEngine();
const bundle = 'secops/invariants';

describe('a shadow policy and the jobs of a run', () => {
  it('is evaluated once for the policy decision of an approval step, which is not evaluated again', async () => {
    const content = 'rules: [{ id: banned, decision: deny, match: { topics: ["job.*"] } }]';
    const shadow = {
      ...{ shadow_bundle_id: 's1', bundle_id: bundle, tenant_id: 'acme', created_by: 'ann' },
      ...{ created_at: '', activated_at: '', metadata: {}, bytes: content.length, content },
    };
    const { platform } = await use.start({ idle: true });
    await platform.store.shadows.write('acme', bundle, { read: '', shadow, audit: { tenant: 'acme', entry: '' } });
    const engine = await use.start();
    const id = await use.submitRun({ ask: { type: 'approval' } });
    const jobId = `${id}:ask@1`;
    await eventually(async () => expect((await use.store.jobs.load(jobId))?.state).toBe('APPROVAL_REQUIRED'));

    await approveJob(engine.ctx, person('bob'), jobId, { reason: 'fine', note: '' });

    await use.ended(id, 'succeeded');
    await use.stop(engine);
    const all = { fromMs: 0, toMs: Date.now() + 3_600_000, limit: 100 };
    expect(await platform.store.shadowResults.page('acme', bundle, all)).toMatchObject([
      { job_id: jobId, active_verdict: 'ALLOW', shadow_verdict: 'DENY', diff: 'escalated' },
    ]);
  });
});
