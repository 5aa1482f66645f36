import { approveJob, rejectJob } from '@svc/services';
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
`,
});
const remarks = { reason: 'fine', note: '' };

describe('policy and the jobs of a run', () => {
  const held = (jobId: string) =>
    eventually(async () => expect((await use.store.jobs.load(jobId))?.state).toBe('APPROVAL_REQUIRED'));

  it('a step that policy denies ends the run denied', async () => {
    await use.start();

    const id = await use.runOf({ wipe: { topic: 'job.wipe' } });

    expect((await use.ended(id, 'denied')).error?.message).toMatch(/never/);
  });

  it('a step that policy holds goes on once somebody else approved its job', async () => {
    await use.start();
    const id = await use.runOf({ pay: { topic: 'job.pay', input: { euro: 7 } } });
    await held(`${id}:pay@1`);

    await expect(approveJob(use.engine.ctx, person('ann'), `${id}:pay@1`, remarks)).rejects.toMatchObject({
      errorCode: 'self_approval_denied',
    });
    await approveJob(use.engine.ctx, person('bob'), `${id}:pay@1`, remarks);

    expect((await use.ended(id, 'succeeded')).output).toEqual({ echo: { euro: 7 } });
  });

  it('a step with policy_gate require_approval is held though policy allows it, and one denied by policy is not', async () => {
    await use.start();
    const gated = { policy_gate: 'require_approval' } as const;
    const id = await use.runOf({ go: { topic: 'job.go', input: { n: 1 }, ...gated } });
    const refused = await use.runOf({ go: { topic: 'job.go', ...gated } });
    const denied = await use.runOf({ go: { topic: 'job.wipe', ...gated } });
    await held(`${id}:go@1`);
    await held(`${refused}:go@1`);

    await approveJob(use.engine.ctx, person('bob'), `${id}:go@1`, remarks);
    await rejectJob(use.engine.ctx, person('bob'), `${refused}:go@1`, remarks);

    expect((await use.ended(id, 'succeeded')).output).toEqual({ echo: { n: 1 } });
    await use.ended(refused, 'denied');
    await use.ended(denied, 'denied');
  });
});
