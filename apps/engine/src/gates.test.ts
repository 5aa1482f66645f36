import { approveJob, rejectJob } from '@svc/approvals';
import { changeDocument } from '@svc/settings';
import type { GateRule, StepDefinition } from '@svc/workflow';
import { eventually, person } from '@svc/testing';
import { useEngine } from './use-engine.testing';

const use = useEngine();
const remarks = { reason: 'agreed', note: '' };

describe('an approval step', () => {
  /** A run that waits at its approval step. */
  async function atGate(gate: GateRule = {}, onError?: string, more: Pick<StepDefinition, 'exclude_starter'> = {}) {
    const ask = {
      type: 'approval' as const,
      input: { title: 'Shall it?' },
      gate,
      ...more,
      ...(onError && { on_error: onError }),
    };
    const handler = onError ? { [onError]: { topic: 'job.handled', input: { why: '${error.message}' } } } : {};
    const id = await use.submitRun({ ask, go: { topic: 'job.go', depends_on: ['ask'] }, ...handler });
    await use.step(id, 'ask', 'waiting');
    const jobId = `${id}:ask@1`;
    await eventually(async () => expect((await use.store.jobs.load(jobId))?.state).toBe('APPROVAL_REQUIRED'));
    return { id, jobId };
  }
  const approve = (jobId: string, name: string) => approveJob(use.engine.ctx, person(name), jobId, remarks);
  const reject = (jobId: string, name: string) => rejectJob(use.engine.ctx, person(name), jobId, remarks);

  it('can be approved by the starter of the run', async () => {
    await use.start();
    const { id, jobId } = await atGate();

    await approve(jobId, 'ann');

    const run = await use.ended(id, 'succeeded');
    expect(run.steps['ask']?.output).toEqual({ approved: true, resolved_by: 'ann', comment: 'agreed' });
  });

  it('can be rejected by the starter of the run', async () => {
    await use.start();
    const { id, jobId } = await atGate();

    await reject(jobId, 'ann');

    await use.ended(id, 'denied');
  });

  it('without exclude_starter cannot be resolved by the starter when config denies self-approval', async () => {
    const { ctx } = await use.start();
    const place = { scope: 'org', scope_id: 'acme' } as const;
    await changeDocument(ctx, place, () => ({ data: { approvals: { run_starter: 'deny' } } }));
    ctx.config.changed();
    const { jobId } = await atGate();

    await expect(approve(jobId, 'ann')).rejects.toMatchObject({ errorCode: 'self_approval_denied' });
    await expect(reject(jobId, 'ann')).rejects.toMatchObject({ errorCode: 'self_approval_denied' });
    await approve(jobId, 'bob');
  });

  it.each<[string, GateRule, Pick<StepDefinition, 'exclude_starter'>]>([
    ['exclude_starter', {}, { exclude_starter: true }],
    ['the older gate.deny_requester', { deny_requester: true }, {}],
  ])('with %s completes once another person than the starter approves', async (_, gate, more) => {
    await use.start();
    const { id, jobId } = await atGate(gate, undefined, more);
    expect((await use.state(id)).status).toBe('waiting');

    await expect(approve(jobId, 'ann')).rejects.toMatchObject({ errorCode: 'self_approval_denied' });
    await expect(reject(jobId, 'ann')).rejects.toMatchObject({ errorCode: 'self_approval_denied' });
    await approve(jobId, 'bob');

    const run = await use.ended(id, 'succeeded');
    expect(run.steps['ask']?.output).toEqual({ approved: true, resolved_by: 'bob', comment: 'agreed' });
    expect((await use.timeline(id)).map(({ type }) => type)).toContain('step_approved');
  });

  it('requires as many different people as its quorum', async () => {
    await use.start();
    const { id, jobId } = await atGate({ quorum: 3 });

    await Promise.all(['bob', 'cat', 'bob'].map((name) => approve(jobId, name).catch(() => undefined)));
    expect((await use.state(id)).steps['ask']?.status).toBe('waiting');
    await Promise.all(['dan', 'eve', 'fay', 'gus'].map((name) => approve(jobId, name).catch(() => undefined)));

    const run = await use.ended(id, 'succeeded');
    expect(run.steps['ask']?.gate?.approvals).toHaveLength(3);
    const approvals = (await use.timeline(id)).filter(({ type }) => type === 'step_approved');
    expect(approvals).toMatchObject([1, 2, 3].map((approvals) => ({ data: { approvals, needed: 3, role: 'admin' } })));
  });

  it('that is rejected fails the run, unless an error handler handles it', async () => {
    await use.start();
    const [plain, handled] = [await atGate(), await atGate({}, 'refused')];

    await reject(plain.jobId, 'bob');
    await reject(handled.jobId, 'bob');

    await use.ended(plain.id, 'denied');
    const run = await use.ended(handled.id, 'succeeded');
    expect(run.steps['refused']?.output).toMatchObject({ echo: { why: 'agreed' } });
  });

  it.each([
    ['reject', 'denied', 'DENIED'],
    ['approve', 'succeeded', 'SUCCEEDED'],
  ] as const)('that expires: %s', async (on_expiry, status, state) => {
    await use.start();
    const { id, jobId } = await atGate({ expires_sec: 1, on_expiry });

    await use.ended(id, status);

    await eventually(async () => expect((await use.store.jobs.load(jobId))?.state).toBe(state));
    const expired = on_expiry === 'reject' ? 1 : 0;
    // The expiry is counted after the write that others see.
    const line = new RegExp(`^svc_approval_expired_total\\{.*\\} ${expired}$`, 'm');
    await eventually(async () => expect(await use.engine.metrics()).toMatch(line));
  });

  it('sends reminders, and escalates to a role that may then decide', async () => {
    await use.start();

    const { jobId } = await atGate({ remind_sec: 1, escalate_after_sec: 1, escalate_to: 'operator' });

    await eventually(
      async () => {
        const gate = (await use.store.jobs.load(jobId))?.approval?.gate;
        expect(gate).toMatchObject({ escalated: true, escalate_to: 'operator' });
        expect(gate?.reminders).toBeGreaterThan(0);
      },
      { withinMs: 5_000 },
    );
  });

  it('of a cancelled run cannot be decided', async () => {
    await use.start();
    const { id, jobId } = await atGate();

    await use.postEvent(id, { kind: 'cancel', by: 'ann' });
    await use.ended(id, 'cancelled');

    await eventually(async () => expect((await use.store.jobs.load(jobId))?.state).toBe('CANCELLED'));
    await expect(approve(jobId, 'bob')).rejects.toMatchObject({ errorCode: expect.stringMatching(/^approval_/) });
  });
});
