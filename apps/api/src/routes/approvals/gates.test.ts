import { AppError, decodePacket, type Caller } from '@svc/contract';
import { type ApprovalOutcome, approveJob, closeGate, escalateGate, rejectJob, remindGate } from '@svc/approvals';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { Who } from '../../identities.testing';
import { crowd, givenGates } from './given-gates.testing';
import { person } from '@svc/testing';

describe('approval steps', () => {
  const api = useApi();
  const given = givenGates(api);
  const load = (id: string) => api.store.jobs.load(id);
  const decide = (verdict: 'approve' | 'reject', id: string, who: Who = 'boss', body?: unknown) =>
    api.as(who).post(`/api/v1/approvals/${encodeURIComponent(id)}/${verdict}`, body);

  const words = { reason: '', note: '' };
  const answer = (outcome: Promise<ApprovalOutcome>): Promise<string> =>
    outcome.then(
      ({ kind }) => kind,
      (error: unknown) => (error instanceof AppError ? error.toBody().code : String(error)),
    );
  const approves = (who: Caller, id: string) => answer(approveJob(api.ctx.approvals, who, id, words));
  const rejects = (who: Caller, id: string) => answer(rejectJob(api.ctx.approvals, who, id, words));
  const tally = (answers: string[]) => {
    const counts: Record<string, number> = {};
    for (const one of answers) counts[one] = (counts[one] ?? 0) + 1;
    return counts;
  };

  it('200: an approved step succeeds immediately, its run receives the approver, and the success is published', async () => {
    const id = await given.gate();

    const { status, body } = await decide('approve', id, 'operator', { note: 'approved' });

    expect({ status, body }).toEqual({ status: 200, body: { job_id: id, trace_id: `trace-of-${id}` } });
    expect(await load(id)).toMatchObject({ state: 'SUCCEEDED', approval: { status: 'approved', resolved_by: 'ola' } });
    expect(await given.runEvents()).toEqual([
      { kind: 'gateResolved', jobId: id, approved: true, by: 'ola', role: 'operator', comment: 'approved' },
      expect.objectContaining({ kind: 'jobEnded', jobId: id }),
    ]);
    expect(await api.packets()).toEqual(['sys.job.result']);
  });

  it('200: a rejected step is denied, and its run receives the reason', async () => {
    const id = await given.gate({ quorum: 3 });

    await decide('reject', id, 'boss', { reason: 'too much' });

    expect(await load(id)).toMatchObject({ state: 'DENIED', approval: { status: 'rejected' } });
    expect((await given.runEvents())[0]).toMatchObject({ kind: 'gateResolved', approved: false, by: 'bob', comment: 'too much' });
    expect((await api.as('admin').get('/api/v1/dlq')).body).toMatchObject([{ reason_code: 'approval_rejected' }]);
  });

  it('of 20 concurrent approvals and rejections, exactly one takes effect, and the others return it', async () => {
    const id = await given.gate();

    const answers = await Promise.all(crowd(20).map((who, i) => (i % 2 ? approves(who, id) : rejects(who, id))));

    expect(tally(answers)).toEqual({ resolved: 1, repeated: 9, approval_already_resolved: 10 });
    expect((await load(id))?.approval).toMatchObject({ revision: 2, answers: [expect.anything()] });
    expect((await given.runEvents()).filter(({ kind }) => kind === 'gateResolved')).toHaveLength(1);
  });

  it('of 20 concurrent approvals of a step that needs 3, exactly 3 count, the last one takes effect, and its run receives those 3', async () => {
    const id = await given.gate({ quorum: 3 });

    const answers = await Promise.all(crowd(20).map((who) => approves(who, id)));

    expect(tally(answers)).toEqual({ counted: 2, resolved: 1, repeated: 17 });
    const job = await load(id);
    const by = job?.approval?.answers?.map((one) => one.by) ?? [];
    expect(new Set(by).size).toBe(3);
    expect(job).toMatchObject({ state: 'SUCCEEDED', approval: { status: 'approved', revision: 4, resolved_by: by[2] } });
    const resolutions = (await given.runEvents()).filter(({ kind }) => kind === 'gateResolved');
    expect(resolutions.map((event) => event['by'])).toEqual(by);
  });

  it('of 20 concurrent approvals and rejections of a step that needs 3, one ends it, and no event follows', async () => {
    const id = await given.gate({ quorum: 3 });

    const answers = await Promise.all(crowd(20).map((who, i) => (i % 10 ? approves(who, id) : rejects(who, id))));

    expect(tally(answers)['resolved']).toBe(1);
    const job = await load(id);
    const resolutions = (await given.runEvents()).filter(({ kind }) => kind === 'gateResolved');
    expect(resolutions).toHaveLength(job?.approval?.answers?.length ?? 0);
    expect(resolutions.at(-1)).toMatchObject({ approved: job?.state === 'SUCCEEDED' });
  });

  it('200: one approver counts once, whatever name their key has', async () => {
    const id = await given.gate({ quorum: 2 });

    const first = await decide('approve', id, 'boss');
    const again = await decide('approve', id, 'boss');
    const sameKey = await approves(person('zoe', { submitterId: 'apikey:1|principal:zoe' }), id);
    const sameKeyAgain = await approves(person('yan', { submitterId: 'apikey:1|principal:yan' }), id);

    expect(first.body).toMatchObject({ job_id: id, approvals: 1, approvals_needed: 2 });
    expect(again).toMatchObject({ status: 200, body: { status: 'already_approved', approved_by: 'bob' } });
    expect([sameKey, sameKeyAgain]).toEqual(['resolved', 'repeated']);
    expect((await load(id))?.approval?.answers).toHaveLength(2);
  });

  it('approvers who share a key count as one', async () => {
    const id = await given.gate({ quorum: 3 });

    const answers = [];
    for (const name of ['zoe', 'yan']) answers.push(await approves(person(name, { submitterId: `apikey:1|principal:${name}` }), id));

    expect(answers).toEqual(['counted', 'repeated']);
  });

  it('200: an approver may still reject while more approvals are needed', async () => {
    const id = await given.gate({ quorum: 2 });
    await decide('approve', id, 'boss');

    expect((await decide('reject', id, 'boss')).status).toBe(200);
    expect((await load(id))?.state).toBe('DENIED');
  });

  it.each([
    ['by the key that started the run', { submitterId: 'apikey:key-of-dora|principal:else' }],
    ['under the name that started the run', { submitterId: 'apikey:other|principal:dora' }],
    ['under the name that the gate knows', { submitterId: 'jwt:1|principal:', principalId: 'dora' }],
  ])('403: with exclude_starter, the starter of the run, %s', async (_, over) => {
    const id = await given.gate({ quorum: 2 });
    const dora = person('else', over);

    expect([await approves(dora, id), await rejects(dora, id)]).toEqual(['self_approval_denied', 'self_approval_denied']);
    expect((await load(id))?.approval?.revision).toBe(1);
  });

  it('200: the starter of the run, for a step without exclude_starter; 403: the submitter of a plain job', async () => {
    const ruled = await given.gate({ exclude_starter: false });
    const bare = await api.given.job({
      state: 'APPROVAL_REQUIRED',
      topic: 'job.svc.approval-gate',
      submitter: 'apikey:key-of-dora|principal:dora',
    });

    expect(await approves(person('dora'), ruled)).toBe('resolved');
    expect(await approves(person('dora'), bare)).toBe('self_approval_denied');
  });

  it('403: another tenant', async () => {
    const id = await given.gate();

    expect(statusAndCode(await decide('approve', id, 'other'))).toEqual({ status: 403, code: 'approval_forbidden' });
  });

  it('409: a step whose request changed cannot be approved', async () => {
    const id = await given.gate({ quorum: 2 }, { approval: { job_hash: 'another', gate: { quorum: 2, exclude_starter: true, requester: 'dora' } } });

    expect(statusAndCode(await decide('approve', id))).toEqual({ status: 409, code: 'approval_stale_request' });
  });

  it('409: a run that has ended; the list omits its approvals', async () => {
    const id = await given.gate();
    await given.ended('r1');

    expect(statusAndCode(await decide('approve', id))).toEqual({ status: 409, code: 'approval_terminal_run' });
    expect(statusAndCode(await decide('reject', id))).toEqual({ status: 409, code: 'approval_terminal_run' });
    expect((await load(id))?.state).toBe('APPROVAL_REQUIRED');
    expect((await api.as('admin').get('/api/v1/approvals')).body).toEqual({ items: [], next_cursor: null });
  });

  it('409: a run whose record has expired', async () => {
    const id = await given.gate({}, { fields: { run: 'forgotten' } });

    expect(statusAndCode(await decide('approve', id))).toEqual({ status: 409, code: 'approval_terminal_run' });
  });

  it('409: retries on a constantly changing approval are bounded', async () => {
    const id = await given.gate();
    // The stored text always differs from the read one, as if another write came in between each time.
    const approval = JSON.stringify((await load(id))?.approval, undefined, 1);
    await api.store.redis.hset(`{s0}:job:${id}`, 'approval', approval);

    const { status, body, headers } = await decide('approve', id);

    expect({ status, body }).toMatchObject({ status: 409, body: { code: 'approval_retryable_lock', retryable: true } });
    expect(headers['retry-after']).toBe('1');
    expect((await load(id))?.state).toBe('APPROVAL_REQUIRED');
  });

  describe('operations of the run on its approval step', () => {
    const alerts = async () =>
      (await api.published())
        .filter(({ subject }) => subject === 'sys.alert')
        .map(({ bytes }) => decodePacket(bytes))
        .map((read) => (read.kind === 'ok' && read.packet.kind === 'alert' ? read.packet.body : undefined));

    it('an escalation adds its role, increments the revision once, and is published each time', async () => {
      const id = await given.gate({ escalate_to: 'admin', quorum: 2 });
      expect(statusAndCode(await decide('approve', id, 'boss'))).toEqual({ status: 403, code: 'approval_forbidden' });

      await escalateGate(api.ctx.approvals, id);
      await escalateGate(api.ctx.approvals, id, 'admin');

      expect((await load(id))?.approval).toMatchObject({ revision: 2, gate: { escalated: true } });
      const details = { job_id: id, run_id: 'r1', step_id: 'ask', role: 'admin' };
      expect(await alerts()).toMatchObject([{ details }, { details }]);
      expect((await decide('approve', id, 'boss')).status).toBe(200);
      expect((await decide('approve', id, 'operator')).status).toBe(200);
      expect((await load(id))?.state).toBe('SUCCEEDED');
    });

    it('reminders are counted and published', async () => {
      const id = await given.gate();

      await remindGate(api.ctx.approvals, id);
      await remindGate(api.ctx.approvals, id);

      expect((await load(id))?.approval).toMatchObject({ revision: 3, status: 'pending', gate: { reminders: 2 } });
      expect(await alerts()).toMatchObject([{ details: { reminders: '1' } }, { details: { reminders: '2' } }]);
    });

    it.each([
      [true, 'SUCCEEDED', { status: 'approved', decision: 'approve' }],
      [false, 'DENIED', { status: 'invalidated', decision: 'expire' }],
    ] as const)('closing it (%s) ends it once, without an approver', async (approved, state, approval) => {
      const id = await given.gate({ quorum: 2 });

      await closeGate(api.ctx.approvals, id, approved, 'by rule');
      await closeGate(api.ctx.approvals, id, !approved, 'by another');

      expect(await load(id)).toMatchObject({ state, approval: { ...approval, reason: 'by rule', revision: 2 } });
      expect((await load(id))?.approval?.resolved_by).toBeUndefined();
    });

    it('a resolved step and an unknown step are unchanged', async () => {
      const id = await given.gate();
      await decide('approve', id);
      const before = await load(id);

      await closeGate(api.ctx.approvals, id, false, 'late');
      await escalateGate(api.ctx.approvals, id, 'admin');
      await remindGate(api.ctx.approvals, id);
      await closeGate(api.ctx.approvals, 'r1:nothing@1', true, 'late');

      expect(await load(id)).toEqual(before);
      expect(await alerts()).toEqual([]);
    });

    it('of 20 approvals concurrent with a close, either one takes effect or none', async () => {
      const id = await given.gate();

      const [, ...answers] = await Promise.all([
        closeGate(api.ctx.approvals, id, false, 'expired').then(() => 'closed'),
        ...crowd(20).map((who) => approves(who, id)),
      ]);

      const state = (await load(id))?.state;
      expect(tally(answers)['resolved'] ?? 0).toBe(state === 'SUCCEEDED' ? 1 : 0);
      expect(['SUCCEEDED', 'DENIED']).toContain(state);
    });
  });
}); // prettier-ignore
