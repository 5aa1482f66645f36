import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { Who } from '../../identities.testing';

const shipped = readFileSync(join(__dirname, '../../../../../config/safety.yaml'), 'utf8');

describe('POST /api/v1/approvals/:job_id/approve and reject', () => {
  const api = useApi();
  const decide = (verdict: 'approve' | 'reject', id: string, who: Who = 'boss', body?: unknown) =>
    api.as(who).post(`/api/v1/approvals/${id}/${verdict}`, body);
  const held = (given: object = {}) => api.given.job({ state: 'APPROVAL_REQUIRED', ...given });
  const load = (id: string) => api.store.jobs.load(id);
  const refund = (who: Who) =>
    api.as(who).post('/api/v1/jobs', { prompt: 'refund', topic: 'job.demo.refund', context: { amount: 900 } });
  const both = ['approve', 'reject'] as const;

  it('200: an approved job is requeued, with its approval', async () => {
    const id = await held();

    const { status, body } = await decide('approve', id, 'operator', { reason: ' fine ', note: 'seen' });

    expect({ status, body }).toEqual({ status: 200, body: { job_id: id, trace_id: `trace-of-${id}` } });
    const job = await load(id);
    expect(job).toMatchObject({
      state: 'PENDING',
      approval: { status: 'approved', revision: 2, decision: 'approve', resolved_by: 'ola', resolved_role: 'operator', reason: 'fine', note: 'seen' },
    });
    expect(job && (await api.store.jobs.hasQueueEntry(job))).toBe(true);
    expect((await api.as('admin').get(`/api/v1/jobs/${id}`)).body).toMatchObject({
      approval_by: 'ola',
      approval_status: 'approved',
      approval_actionability: 'resolved',
    });
  });

  it('200: a job of a user that policy holds can be approved', async () => {
    const { body } = await refund('user');

    expect((await decide('approve', String(body['job_id']))).status).toBe(200);
  });

  it('200: a rejected job ends with a dead letter, and its end is published once', async () => {
    const id = await held();

    const { status, body } = await decide('reject', id, 'boss', { reason: 'too much' });

    expect({ status, body }).toEqual({ status: 200, body: { job_id: id } });
    expect(await load(id)).toMatchObject({ state: 'DENIED', approval: { status: 'rejected', reason: 'too much' } });
    expect((await load(id))?.intent).toBeUndefined();
    expect((await api.as('admin').get('/api/v1/dlq')).body).toMatchObject([
      { job_id: id, reason_code: 'approval_rejected', reason: 'too much', last_state: 'APPROVAL_REQUIRED' },
    ]);
    expect(await api.packets()).toEqual(['sys.job.result', 'sys.job.dlq']);
  });

  it('200: a rejection without a reason gets a default reason', async () => {
    const id = await held();
    await decide('reject', id);

    expect((await load(id))?.error_message).toBe('approval rejected');
  });

  it('200: remarks are truncated to 512 bytes at a character boundary, and secrets are redacted', async () => {
    const id = await held();
    const secret = `ghp_${'a1B2'.repeat(9)}`;

    await decide('approve', id, 'boss', { reason: `x${'é'.repeat(300)}`, note: `the token is ${secret}` });

    const approval = (await load(id))?.approval;
    expect(approval?.reason).toBe(`x${'é'.repeat(255)}`);
    expect(approval?.note).not.toContain(secret);
  });

  it.each(both)('200: of 20 concurrent calls to %s, one takes effect and the others return its resolution', async (verdict) => {
    const id = await held();

    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => decide(verdict, id, i % 2 ? 'boss' : 'admin')));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const acted = answers.filter(({ body }) => body['status'] === undefined);
    expect(acted).toHaveLength(1);
    expect((await load(id))?.approval?.revision).toBe(2);
    expect(await api.store.jobs.events(id)).toHaveLength(3);
  });

  it('of concurrent approvals and rejections, one takes effect and the opposite ones are rejected', async () => {
    const id = await held();

    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => decide(i % 2 ? 'reject' : 'approve', id)));

    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(statusAndCode)).toEqual(Array.from({ length: 10 }, () => ({ status: 409, code: 'approval_already_resolved' })));
    expect(answers.filter(({ status, body }) => status === 200 && body['status'] === undefined)).toHaveLength(1);
  });

  it.each([
    ['approve', 'already_approved', 'approved_by', 'approved_at'],
    ['reject', 'already_rejected', 'rejected_by', 'rejected_at'],
  ] as const)('200: to %s again returns the earlier resolution to any approver', async (verdict, status, by, at) => {
    const id = await held({ submitter: 'apikey:x|principal:ann' });
    await decide(verdict, id);

    expect((await decide(verdict, id, 'admin')).body).toMatchObject({ job_id: id, status, [by]: 'bob', [at]: expect.any(Number) });
  });

  it.each([['approve', 'reject'], ['reject', 'approve']] as const)('409: %s and then %s', async (first, second) => {
    const id = await held();
    await decide(first, id);

    expect(statusAndCode(await decide(second, id))).toEqual({ status: 409, code: 'approval_already_resolved' });
  });

  describe.each(both)('%s', (verdict) => {
    it('404: an unknown job', async () => {
      expect(statusAndCode(await decide(verdict, 'nothing-of-that-name'))).toEqual({ status: 404, code: 'approval_not_found' });
    });

    it('403: a job of another tenant', async () => {
      expect(statusAndCode(await decide(verdict, await held(), 'other'))).toEqual({ status: 403, code: 'approval_forbidden' });
    });

    it('403: the submitter, by the same key or principal', async () => {
      const { body } = await refund('admin');
      const own = String(body['job_id']);
      const sameName = await held({ submitter: 'apikey:0000000000000000|principal:bob' });

      expect(statusAndCode(await decide(verdict, own, 'admin'))).toEqual({ status: 403, code: 'self_approval_denied' });
      expect(statusAndCode(await decide(verdict, sameName, 'boss'))).toEqual({ status: 403, code: 'self_approval_denied' });
      expect((await load(own))?.state).toBe('APPROVAL_REQUIRED');
      expect((await decide(verdict, own, 'boss')).status).toBe(200);
    });

    it('409: a job that was never held', async () => {
      const id = await api.given.job();

      expect(statusAndCode(await decide(verdict, id))).toEqual({ status: 409, code: 'approval_not_actionable' });
    });

    it('409: an expired approval', async () => {
      const id = await held();
      await api.store.jobs.move('*', id, 'timeOut');

      expect(statusAndCode(await decide(verdict, id))).toEqual({ status: 409, code: 'approval_not_actionable' });
    });

    it('409: a job whose decision requires no approval', async () => {
      const id = await held({ safety: { approval_required: false } });

      expect(statusAndCode(await decide(verdict, id))).toEqual({ status: 409, code: 'approval_not_actionable' });
    });

    it('400: a remark of 10,001 characters, and an unknown field', async () => {
      const id = await held();

      expect(statusAndCode(await decide(verdict, id, 'boss', { reason: 'x'.repeat(10_001) }))).toEqual({ status: 400, code: 'invalid_body' });
      expect(statusAndCode(await decide(verdict, id, 'boss', { force: true }))).toEqual({ status: 400, code: 'invalid_json' });
      expect((await load(id))?.state).toBe('APPROVAL_REQUIRED');
    });
  });

  it('409: the request changed since it was held; it may still be rejected', async () => {
    const id = await held();
    const request = { ...(await load(id))?.request, topic: 'job.demo.wipe', labels: { more: '1' } };
    await api.store.redis.hset(`{s0}:job:${id}`, 'request', JSON.stringify(request));

    expect(statusAndCode(await decide('approve', id))).toEqual({ status: 409, code: 'approval_stale_request' });
    expect((await load(id))?.state).toBe('APPROVAL_REQUIRED');
    expect((await decide('reject', id)).status).toBe(200);
  });

  it('409: the policy changed since the job was held; 200 after it is restored', async () => {
    const [id, later] = [await held(), await held()];
    const gate = await held({ topic: 'job.svc.approval-gate' });
    await api.policy(shipped.replace('refunds above 250', 'refunds above 200'));

    expect(statusAndCode(await decide('approve', id))).toEqual({ status: 409, code: 'approval_stale_snapshot' });
    expect((await decide('approve', gate)).status).toBe(200);
    expect((await decide('reject', id)).status).toBe(200);

    await api.policy(shipped);
    expect((await decide('approve', later)).status).toBe(200);
  });

  it('409: a job held under no known policy', async () => {
    const id = await held();
    const approval = { ...(await load(id))?.approval, policy_snapshot: '' };
    await api.store.redis.hset(`{s0}:job:${id}`, 'approval', JSON.stringify(approval));

    expect(statusAndCode(await decide('approve', id))).toEqual({ status: 409, code: 'approval_stale_snapshot' });
  });

  it('503: nothing is approved while policy is unavailable', async () => {
    const id = await held();
    const asking = jest.spyOn(api.kernel, 'listSnapshots').mockRejectedValue(new Error('gone'));

    expect(statusAndCode(await decide('approve', id))).toEqual({ status: 503, code: 'safety_unavailable' });
    asking.mockRestore();
    expect((await load(id))?.state).toBe('APPROVAL_REQUIRED');
  });
}); // prettier-ignore
