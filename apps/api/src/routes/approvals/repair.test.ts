import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApprovalRecord } from '@svc/store';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { GivenJob } from '../../given-jobs.testing';
import type { Who } from '../../identities.testing';
import { givenGates } from './given-gates.testing';

const shipped = readFileSync(join(__dirname, '../../../../../config/safety.yaml'), 'utf8');

describe('POST /api/v1/approvals/:job_id/repair', () => {
  const api = useApi();
  const given = givenGates(api);
  const load = (id: string) => api.store.jobs.load(id);
  const repair = (id: string, body?: unknown, who: Who = 'boss') =>
    api.as(who).post(`/api/v1/approvals/${encodeURIComponent(id)}/repair`, body);
  const held = (over: GivenJob = {}) => api.given.job({ state: 'APPROVAL_REQUIRED', ...over });

  const audit = async (who: Who = 'admin') =>
    (await api.as(who).get('/api/v1/policy/audit?action=repair')).body['items'] as { extra: Record<string, string> }[];
  const decided = (status: 'approved' | 'rejected'): Partial<ApprovalRecord> => ({
    status,
    revision: 2,
    decision: status === 'approved' ? 'approve' : 'reject',
    resolved_by: 'ola',
    resolved_role: 'operator',
    resolved_at: 1_000_000,
    reason: 'because',
  });
  const changeRequest = async (id: string) => {
    const request = { ...(await load(id))?.request, labels: { more: '1' } };
    await api.store.redis.hset(`{s0}:job:${id}`, 'request', JSON.stringify(request));
  };

  interface Case {
    kind: string;
    given(): Promise<string>;
    /** State of the job, and status and decision of its approval, after the repair. */
    after: [state: string, status: string, decision: string];
    target: string;
    packets: string[];
  }
  const cases: Case[] = [
    {
      kind: 'repair_approved_resolution',
      given: () => held({ approval: decided('approved') }),
      after: ['PENDING', 'repaired', 'repair'],
      target: 'submit',
      packets: [],
    },
    {
      kind: 'repair_rejected_resolution',
      given: () => held({ approval: decided('rejected') }),
      after: ['DENIED', 'repaired', 'repair'],
      target: 'dlq',
      packets: ['sys.job.result', 'sys.job.dlq'],
    },
    {
      kind: 'invalidate_terminal_run',
      given: async () => {
        const id = await given.gate();
        await given.ended('r1');
        return id;
      },
      after: ['DENIED', 'invalidated', 'invalidate'],
      target: 'dlq_and_result',
      packets: ['sys.job.result', 'sys.job.dlq'],
    },
    {
      kind: 'invalidate_stale_snapshot',
      given: () => held({ approval: { policy_snapshot: 'another|cfg:1' } }),
      after: ['DENIED', 'invalidated', 'invalidate'],
      target: 'dlq',
      packets: ['sys.job.result', 'sys.job.dlq'],
    },
    {
      kind: 'invalidate_stale_request',
      given: async () => {
        const id = await held();
        await changeRequest(id);
        return id;
      },
      after: ['DENIED', 'invalidated', 'invalidate'],
      target: 'dlq',
      packets: ['sys.job.result', 'sys.job.dlq'],
    },
  ];

  it.each(cases)('200: $kind, planned and not applied', async ({ kind, given: begin, after, target }) => {
    const id = await begin();
    const before = await load(id);

    const { status, body } = await repair(id);

    const [target_state, approval_status, decision] = after;
    expect(status).toBe(200);
    expect(body).toMatchObject({
      job_id: id,
      apply: false,
      applied: false,
      repairable: true,
      state: 'APPROVAL_REQUIRED',
      trace_id: `trace-of-${id}`,
      approval: { status: before?.approval?.status, revision: before?.approval?.revision },
      plan: { job_id: id, kind, repairable: true, current_state: 'APPROVAL_REQUIRED', target_state, approval_status, decision, publish_target: target },
    });
    expect(await load(id)).toEqual(before);
    expect(await api.packets()).toEqual([]);
  });

  it.each(cases)('200: $kind, applied', async ({ kind, given: begin, after, target, packets }) => {
    const id = await begin();
    const revision = (await load(id))?.approval?.revision ?? 0;

    const { status, body } = await repair(id, { apply: true, note: ' repaired ' });

    const [state, approvalStatus, decision] = after;
    const approval = { status: approvalStatus, decision, revision: revision + 1, note: 'repaired', publish_status: 'published', publish_target: target };
    expect(status).toBe(200);
    expect(body).toMatchObject({ apply: true, applied: true, repairable: true, state, approval, plan: { kind } });
    expect(body).not.toHaveProperty('publish_deferred');
    expect(await load(id)).toMatchObject({ state, approval: { status: approvalStatus, decision } });
    expect(await api.packets()).toEqual(packets);
    expect(statusAndCode(await repair(id, { apply: true }))).toEqual({ status: 409, code: 'not_repairable' });
  });

  it.each(cases)('200: $kind is in the policy audit only if it was applied', async ({ kind, given: begin, after }) => {
    const id = await begin();
    await repair(id);
    expect(await audit()).toEqual([]);

    await repair(id, { apply: true, note: ' repaired ' });
    await repair(id, { apply: true });

    const [state, approval_status] = after;
    expect(await audit()).toMatchObject([
      {
        action: 'repair',
        resource_type: 'job',
        resource_id: id,
        job_id: id,
        tenant_id: 'acme',
        actor_id: 'bob',
        role: 'admin',
        message: 'repaired',
        extra: { kind, from: 'APPROVAL_REQUIRED', to: state, approval_status },
      },
    ]);
    expect(await audit('other')).toEqual([]);
  });

  it('200: a repaired approval is requeued and keeps its approver; the caller of the repair is not the approver', async () => {
    const id = await held({ approval: decided('approved') });

    const { body } = await repair(id, { apply: true });

    expect(body['approval']).toMatchObject({ approved_by: 'ola', approved_role: 'operator', approved_at: 1_000_000 });
    const job = await load(id);
    expect(job?.approval?.repair).toMatchObject({ was: 'approved', by: 'bob', role: 'admin' });
    expect(job && (await api.store.jobs.hasQueueEntry(job))).toBe(true);
    expect((await api.as('admin').get(`/api/v1/jobs/${id}`)).body).toMatchObject({ approval_status: 'repaired', approval_actionability: 'repaired' });
    expect((await api.as('admin').post(`/api/v1/approvals/${id}/approve`)).body).toMatchObject({ status: 'already_approved', approved_by: 'ola' });
    expect(statusAndCode(await api.as('admin').post(`/api/v1/approvals/${id}/reject`))).toEqual({ status: 409, code: 'approval_already_resolved' });
  });

  it('200: an approval of another request than the stored one is invalidated, not applied', async () => {
    const id = await held({ approval: decided('approved') });
    await changeRequest(id);

    const { body } = await repair(id, { apply: true });

    expect(body).toMatchObject({ state: 'DENIED', plan: { kind: 'invalidate_stale_request' } });
  });

  it.each([
    ['approved', 'SUCCEEDED', { approved: true, by: 'ola' }],
    ['rejected', 'DENIED', { approved: false, by: 'ola', comment: 'because' }],
  ] as const)('200: a step that was %s ends, and its run is notified', async (status, state, event) => {
    const gate = { quorum: 1, exclude_starter: true, requester: 'dora' };
    const id = await given.gate({}, { approval: { ...decided(status), gate } });

    await repair(id, { apply: true });

    expect((await load(id))?.state).toBe(state);
    expect((await given.runEvents())[0]).toMatchObject({ kind: 'gateResolved', jobId: id, ...event });
  });

  it('200: a step whose request changed is invalidated, and its run is notified', async () => {
    const id = await given.gate();
    await changeRequest(id);

    expect((await repair(id, { apply: true })).body).toMatchObject({ plan: { kind: 'invalidate_stale_request' } });
    expect((await given.runEvents())[0]).toMatchObject({ kind: 'gateResolved', approved: false });
    expect((await given.runEvents())[0]).not.toHaveProperty('by');
  });

  it('200: a pending publish is published once', async () => {
    const id = await held();
    await api.servers.nats.kill();
    await api.as('boss').post(`/api/v1/approvals/${id}/reject`);
    await api.servers.nats.start();

    const plan = await repair(id);
    expect(plan.body).toMatchObject({ state: 'DENIED', approval: { publish_status: 'pending' }, plan: { kind: 'replay_pending_publish', target_state: 'DENIED' } });
    // Each attempt reports a deferred publish until NATS is reachable again.
    await eventually(async () =>
      expect((await repair(id, { apply: true })).body).toMatchObject({ applied: true, approval: { status: 'rejected', publish_status: 'published' } }),
    );

    expect((await load(id))?.intent).toBeUndefined();
    expect(await audit()).toMatchObject([{ resource_id: id, extra: { kind: 'replay_pending_publish', from: 'DENIED', to: 'DENIED', approval_status: 'rejected' } }]);
  });

  it('200: while NATS is unreachable, the repair is applied and reports a deferred publish', async () => {
    const id = await held({ approval: decided('rejected') });
    await api.servers.nats.kill();

    const { status, body } = await repair(id, { apply: true });

    expect(status).toBe(200);
    expect(body).toMatchObject({ applied: true, state: 'DENIED', publish_deferred: true, approval: { publish_status: 'pending' } });
    const again = await repair(id, { apply: true });
    expect(again.body).toMatchObject({ applied: false, publish_deferred: true, plan: { kind: 'replay_pending_publish' } });
  });

  it('200 and 409: nothing to repair', async () => {
    const id = await held();
    const before = await load(id);

    const plan = await repair(id);
    const applied = await repair(id, { apply: true });

    expect(plan).toMatchObject({ status: 200, body: { repairable: false, plan: { kind: 'none', target_state: 'APPROVAL_REQUIRED' } } });
    expect(applied).toMatchObject({ status: 409, body: { code: 'not_repairable', job_id: id, apply: true, applied: false, repairable: false, plan: { kind: 'none' } } });
    expect(await load(id)).toEqual(before);
  });

  it('of 20 concurrent repairs, one takes effect', async () => {
    const id = await held({ approval: decided('rejected') });

    const answers = await Promise.all(Array.from({ length: 20 }, () => repair(id, { apply: true })));

    expect(answers.filter(({ body }) => (body['plan'] as { kind?: string } | undefined)?.kind === 'repair_rejected_resolution')).toHaveLength(1);
    expect((await load(id))?.approval?.revision).toBe(3);
    expect(await api.store.jobs.events(id)).toHaveLength(3);
    expect((await audit()).filter(({ extra }) => extra.kind === 'repair_rejected_resolution')).toHaveLength(1);
  });

  it.each([
    ['invalidate_stale_request', 'DENIED', async () => {
      const id = await held({ submitter: 'apikey:1|principal:bob' });
      await changeRequest(id);
      return id;
    }],
    ['repair_rejected_resolution', 'DENIED', () => held({ approval: decided('rejected'), submitter: 'apikey:1|principal:bob' })],
  ] as const)('200: the submitter of a job may apply %s, which does not release the job', async (kind, state, begin) => {
    const { status, body } = await repair(await begin(), { apply: true });

    expect({ status, body }).toMatchObject({ status: 200, body: { applied: true, state, plan: { kind } } });
  });

  it('200: the starter of a run may apply the repair that releases an approved step, unless excluded', async () => {
    const own = { submitter: 'apikey:1|principal:bob' };
    const gate = (exclude_starter: boolean) => ({ quorum: 1, exclude_starter, requester: 'bob' });
    const excluded = await given.gate({}, { ...own, approval: { ...decided('approved'), gate: gate(true) } });
    const refused = await repair(excluded, { apply: true });
    const allowed = await given.gate({}, { ...own, id: 'r1:ask@2', approval: { ...decided('approved'), gate: gate(false) } });

    expect(statusAndCode(refused)).toEqual({ status: 403, code: 'self_approval_denied' });
    expect((await repair(allowed, { apply: true })).body).toMatchObject({ applied: true, state: 'SUCCEEDED' });
  });

  it('403: the submitter of a job may plan but not apply the repair that releases it', async () => {
    const own = await held({ approval: decided('approved'), submitter: 'apikey:1|principal:bob' });

    expect((await repair(own)).status).toBe(200);
    expect(statusAndCode(await repair(own, { apply: true }))).toEqual({ status: 403, code: 'self_approval_denied' });
    expect((await load(own))?.state).toBe('APPROVAL_REQUIRED');
  });

  it('403, 404 and 409: another tenant, an unknown job, and one that was never held', async () => {
    expect(statusAndCode(await repair(await held(), { apply: true }, 'other'))).toEqual({ status: 403, code: 'approval_forbidden' });
    expect(statusAndCode(await repair('nothing'))).toEqual({ status: 404, code: 'approval_not_found' });
    expect(statusAndCode(await repair(await api.given.job()))).toEqual({ status: 409, code: 'approval_not_actionable' });
  });

  it('409: an approval that changes concurrently', async () => {
    const id = await held({ approval: decided('rejected') });
    const approval = JSON.stringify((await load(id))?.approval, undefined, 1);
    await api.store.redis.hset(`{s0}:job:${id}`, 'approval', approval);

    expect(await repair(id, { apply: true })).toMatchObject({ status: 409, body: { code: 'approval_retryable_lock', retryable: true } });
  });

  it('503: nothing is planned while policy is unavailable', async () => {
    const id = await held();
    const asking = jest.spyOn(api.kernel, 'listSnapshots').mockRejectedValue(new Error('gone'));

    expect(statusAndCode(await repair(id))).toEqual({ status: 503, code: 'safety_unavailable' });
    asking.mockRestore();
  });

  it('200: a changed policy makes an approval stale, except for approval steps', async () => {
    const [id, gate] = [await held(), await given.gate()];
    await api.policy(shipped.replace('refunds above 250', 'refunds above 200'));

    expect((await repair(id)).body).toMatchObject({ plan: { kind: 'invalidate_stale_snapshot' } });
    expect((await repair(gate)).body).toMatchObject({ plan: { kind: 'none' } });
    await api.policy(shipped);
  });
}); // prettier-ignore
