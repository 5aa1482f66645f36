import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { Who } from '../../identities.testing';
import { givenGates } from './given-gates.testing';

describe('GET /api/v1/approvals/:job_id/context', () => {
  const api = useApi();
  const given = givenGates(api);
  const context = (id: string, who: Who = 'admin') =>
    api.as(who).get(`/api/v1/approvals/${encodeURIComponent(id)}/context`);
  const held = (over: object = {}) => api.given.job({ state: 'APPROVAL_REQUIRED', ...over });

  it('200: describes the request, the rule and the affected resources', async () => {
    const id = await held({
      labels: { 'system:ledger': '1', rollback_hint: 'pay it back' },
      safety: {
        rule_id: 'refunds',
        reason: 'refunds above 250',
        constraints: { redaction_level: 'strict', budgets: { max_retries: 3 } },
      },
      approval: { policy_snapshot: 'v1:abc|cfg:1' },
    });

    const { status, body } = await context(id);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      approval: { job_id: id, state: 'APPROVAL_REQUIRED', approval_status: 'pending', policy_rule_id: 'refunds' },
      blast_radius: { systems: ['ledger'] },
      rollback_hint: 'pay it back',
      prior_approvals: [],
      policy_snapshot_summary: {
        rule_count: null,
        matched_rule: {
          id: 'refunds',
          description: 'refunds above 250',
          decision: 'REQUIRE_APPROVAL',
          constraints_summary: 'redaction_level: strict; budgets.max_retries: 3',
        },
        policy_version: 'v1:abc',
      },
      time_remaining_ms: null,
      constraints: { redaction_level: 'strict' },
    });
    expect(body['approval']).not.toHaveProperty('job');
  });

  it('200: an approval step has the names of its workflow and step, and the approvals so far', async () => {
    const workflow = { workflow_id: 'cargo', workflow_name: 'Cargo', step_id: 'ask', step_name: 'Ask the captain' };
    const id = await given.gate({ quorum: 2, escalate_to: 'admin', escalated: true });
    const payload = { kind: 'workflow_approval_context', version: 1, workflow, decision: { title: 'Sail?' } };
    await api.store.redis.set(`ctx:${id}`, JSON.stringify(payload));
    await api.as('boss').post(`/api/v1/approvals/${encodeURIComponent(id)}/approve`);

    const { body } = await context(id);

    expect(body['approval']).toMatchObject({
      workflow_id: 'cargo',
      workflow_name: 'Cargo',
      workflow_run_id: 'r1',
      workflow_step_id: 'ask',
      step_name: 'Ask the captain',
      gate_type: 'workflow_approval',
      approvals: 1,
      approvals_needed: 2,
      escalated_to: 'admin',
      decision_summary: { source: 'workflow_payload', title: 'Sail?' },
    });
  });

  it('200: the remaining time is that of the earliest timeout, and null after the end', async () => {
    const inMs = (ms: number) => Date.now() + ms;
    const expiring = await held({ approval: { expires_at: inMs(60_000) * 1_000 }, fields: { deadline_ms: inMs(3_600_000) } });
    const due = await held({ fields: { deadline_ms: inMs(30_000) } });
    const late = await held({ approval: { expires_at: 1_000_000 } });
    const left = async (id: string) => (await context(id)).body['time_remaining_ms'];

    expect(await left(expiring)).toBeGreaterThan(0);
    expect(await left(expiring)).toBeLessThanOrEqual(60_000);
    expect(await left(due)).toBeLessThanOrEqual(30_000);
    expect(await left(late)).toBe(0);
    await api.as('boss').post(`/api/v1/approvals/${expiring}/approve`);
    expect(await left(expiring)).toBeNull();
  }); // prettier-ignore

  it('200: a job held by policy has the expiry of its approval', async () => {
    const refund = { prompt: 'refund', topic: 'job.demo.refund', context: { amount: 900 } };
    const { body } = await api.as('user').post('/api/v1/jobs', refund);

    expect((await context(String(body['job_id']))).body['time_remaining_ms']).toEqual(expect.any(Number));
  });

  it('200: similar resolutions, newest first, at most ten, of the same topic and tenant in the last 30 days', async () => {
    const long = { expires_at: 0, resolved_at: 1 };
    const decided = { status: 'approved', decision: 'approve', resolved_by: 'ola', resolved_at: 1 } as const;
    await held({ approval: { ...decided, ...long } });
    const [elsewhere = '', foreign = ''] = [await held({ topic: 'job.other' }), await held({ tenant: 'globex' })];
    await api.as('boss').post(`/api/v1/approvals/${elsewhere}/approve`);
    await api.as('other').post(`/api/v1/approvals/${foreign}/approve`);
    const ids = await api.given.jobs(12, { state: 'APPROVAL_REQUIRED' });
    for (const [i, id] of ids.entries()) {
      await api.as(i % 2 ? 'boss' : 'operator').post(`/api/v1/approvals/${id}/${i % 2 ? 'approve' : 'reject'}`);
    }
    const expired = await held();
    await api.store.jobs.move('*', expired, 'timeOut');

    const { body } = await context(await held());

    const prior = body['prior_approvals'] as Record<string, unknown>[];
    expect(prior.map(({ job_id }) => job_id)).toEqual([...ids].reverse().slice(0, 10));
    expect(prior[0]).toEqual({
      job_id: ids[11],
      topic: 'job.default',
      tenant: 'acme',
      decision: 'approve',
      resolved_by: 'bob',
      resolved_at: expect.any(Number),
      was_approved: true,
    });
    expect(prior[1]).toMatchObject({ decision: 'reject', resolved_by: 'ola', was_approved: false });
  });

  it('404 and 403: an unknown job, one that was never held, and one of another tenant', async () => {
    expect(statusAndCode(await context('nothing'))).toEqual({ status: 404, code: 'job_not_found' });
    expect(statusAndCode(await context(await api.given.job()))).toEqual({ status: 404, code: 'approval_not_found' });
    expect(statusAndCode(await context(await held(), 'other'))).toEqual({ status: 403, code: 'tenant_access_denied' });
  });
});
