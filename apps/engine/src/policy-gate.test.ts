import { approveJob, rejectJob } from '@svc/approvals';
import { changeDocument } from '@svc/settings';
import { eventually, person } from '@svc/testing';
import { useEngine } from './use-engine.testing';

const use = useEngine({
  policy: `
version: '1'
default_decision: allow
rules:
  - id: no-wipe
    match: { topics: [job.wipe] }
    decision: deny
    reason: never
  - id: ask-first
    match: { topics: [job.pay] }
    decision: require_approval
    reason: money
  - id: no-large
    match: { risk_tags: [large] }
    decision: deny
    reason: too much
`,
});
const remarks = { reason: 'fine', note: '' };

describe('policy and the jobs of a run', () => {
  const held = (jobId: string) =>
    eventually(async () => expect((await use.store.jobs.load(jobId))?.state).toBe('APPROVAL_REQUIRED'));

  it('a step that policy denies ends the run denied', async () => {
    await use.start();

    const id = await use.submitRun({ wipe: { topic: 'job.wipe' } });

    expect((await use.ended(id, 'denied')).error?.message).toMatch(/never/);
  });

  it('a step that policy holds continues after another person approves its job', async () => {
    await use.start();
    const id = await use.submitRun({ pay: { topic: 'job.pay', input: { euro: 7 } } });
    await held(`${id}:pay@1`);

    await expect(approveJob(use.engine.ctx, person('ann'), `${id}:pay@1`, remarks)).rejects.toMatchObject({
      errorCode: 'self_approval_denied',
    });
    await approveJob(use.engine.ctx, person('bob'), `${id}:pay@1`, remarks);

    expect((await use.ended(id, 'succeeded')).output).toEqual({ echo: { euro: 7 } });
  });

  it('a step that policy holds can be approved by the starter of the run when config allows it', async () => {
    const { ctx } = await use.start();
    const place = { scope: 'org', scope_id: 'acme' } as const;
    await changeDocument(ctx, place, () => ({ data: { approvals: { run_starter: 'allow' } } }));
    ctx.config.changed();
    const id = await use.submitRun({ pay: { topic: 'job.pay', input: { euro: 7 } } });
    await held(`${id}:pay@1`);

    await approveJob(ctx, person('ann'), `${id}:pay@1`, remarks);

    await use.ended(id, 'succeeded');
  });

  it('a definition cannot allow the starter of its runs to approve a step that policy holds', async () => {
    await use.start();
    const config = { approvals: { run_starter: 'allow' } };
    const id = await use.submitRun({ pay: { topic: 'job.pay' } }, {}, { config });
    await held(`${id}:pay@1`);

    await expect(approveJob(use.engine.ctx, person('ann'), `${id}:pay@1`, remarks)).rejects.toMatchObject({
      errorCode: 'self_approval_denied',
    });
  });

  it('policy_gate require_approval holds a step that policy allows, but not one that policy denies', async () => {
    await use.start();
    const gated = { policy_gate: 'require_approval' } as const;
    const id = await use.submitRun({ go: { topic: 'job.go', input: { n: 1 }, ...gated } });
    const refused = await use.submitRun({ go: { topic: 'job.go', ...gated } });
    const denied = await use.submitRun({ go: { topic: 'job.wipe', ...gated } });
    await held(`${id}:go@1`);
    await held(`${refused}:go@1`);

    await approveJob(use.engine.ctx, person('bob'), `${id}:go@1`, remarks);
    await rejectJob(use.engine.ctx, person('bob'), `${refused}:go@1`, remarks);

    expect((await use.ended(id, 'succeeded')).output).toEqual({ echo: { n: 1 } });
    await use.ended(refused, 'denied');
    await use.ended(denied, 'denied');
  });

  it('a held step is evaluated with the risk tags of its topic, since it is not evaluated again', async () => {
    const engine = await use.start({ idle: true });
    const risk_tag_deriver = 'amount-threshold:petty=0,large=500';
    const topics = { 'job.*': { pool: 'main' }, 'job.bill': { pool: 'main', risk_tag_deriver } };
    await changeDocument(engine.ctx, { scope: 'system', scope_id: 'topics' }, () => ({ data: topics }));
    await use.start();
    const bill = (amount: number) =>
      use.submitRun({ go: { topic: 'job.bill', input: { amount }, policy_gate: 'require_approval' } });

    const [small, large] = [await bill(20), await bill(501)];

    await held(`${small}:go@1`);
    expect((await use.ended(large, 'denied')).error?.message).toMatch(/too much/);
  });
});
