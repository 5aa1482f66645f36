import type { WorkerRecord } from '@svc/store';
import { useApi } from '../../api.testing';

describe('GET /api/v1/jobs/:id/explain', () => {
  const api = useApi({ env: { SVC_DELEGATION_PRIVATE_KEY: '6'.repeat(64) } });
  const explain = (id: string) => api.as('viewer').get(`/api/v1/jobs/${id}/explain`);

  /** A recent snapshot as a scheduler writes it. */
  const schedulerRuns = (...workers: Partial<WorkerRecord>[]) =>
    api.store.workers.writeSnapshot({
      captured_at: new Date().toISOString(),
      writer_id: 's1',
      pools: {},
      workers: workers.map((over) => ({ ...idle, last_heartbeat_ms: Date.now(), ...over })),
    });
  const idle: WorkerRecord = {
    worker_id: 'worker-7',
    pool: 'demo',
    region: '',
    type: '',
    active_jobs: 0,
    max_parallel_jobs: 1,
    capabilities: [],
    labels: {},
    cpu_load: 0,
    gpu_utilization: 0,
    memory_load: 0,
    ready_topics: [],
    last_heartbeat_ms: 0,
    agent_name: '',
    draining: false,
  };
  const wait = (id: string) =>
    api.store.jobs.admit(id, {
      lane: { id: 'job.default', spec: '{}', level: 2 },
      dispatchId: 'd',
      reason: 'no_workers',
      runMs: 1_000,
      deadlineMs: 0,
      tenantCap: 0,
      licenseCap: 0,
      waitMs: 60_000,
      set: {},
    });

  it('200: the first blocker, its owner, and the next blockers', async () => {
    const id = await api.given.job({ topic: 'job.default' });

    const { status, body } = await explain(id);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      job_id: id,
      state: 'PENDING',
      summary: 'It waits: no scheduler runs.',
      blocked_by: { kind: 'no_scheduler', owner: { kind: 'service', id: 'scheduler' }, clears_at: null },
      gives_up: null,
    });
    const ahead = (body['checks'] as { check: string; outcome: string }[]).filter(({ outcome }) => outcome === 'would_block');
    expect(ahead.map(({ check }) => check)).toEqual(['worker']);
  }); // prettier-ignore

  it('200: a waiting job and the pool without capacity', async () => {
    await api.given.job({ state: 'RUNNING', tenant: 'globex' });
    const id = await api.given.job();
    await wait(id);
    await schedulerRuns({});

    const { body } = await explain(id);

    expect(body['blocked_by']).toMatchObject({ kind: 'workers_full', owner: { kind: 'pool', id: 'demo', value: 1 } });
    expect(JSON.stringify(body)).not.toContain('globex');
  });

  it('200: a held job, and how an ended job ended', async () => {
    const held = await api.given.job({ state: 'APPROVAL_REQUIRED', safety: { rule_id: 'ask-first', reason: 'costly' } });
    const failed = await api.given.job({ state: 'FAILED' });

    const [open, over] = await Promise.all([explain(held), explain(failed)]);

    expect(open.body).toMatchObject({
      blocked_by: { kind: 'approval', owner: { kind: 'policy_rule', id: 'ask-first' }, how: expect.stringContaining(`/approvals/${held}/approve`) as string },
      gives_up: { as: 'DENIED' },
    });
    expect(over.body).toMatchObject({
      blocked_by: null,
      ended_by: { code: 'worker_error', what: 'the worker gave up', owner: { kind: 'worker', id: 'worker-7' } },
    });
  }); // prettier-ignore

  it('200: if readiness is required, only workers that announced it count as ready', async () => {
    const id = await api.given.job();
    await wait(id);
    await schedulerRuns({});
    const before = api.ctx.explain.settings.readinessRequired;

    api.ctx.explain.settings.readinessRequired = true;
    const { body } = await explain(id);
    api.ctx.explain.settings.readinessRequired = before;

    expect(body['blocked_by']).toMatchObject({ kind: 'workers_not_ready' });
  });

  it('200: the agent of the job, and what its scope and its delegation say now', async () => {
    await api.license('enterprise');
    const agents = '/api/v1/agents';
    const as = api.as('admin');
    const body = { name: 'mailer', owner: 'ann', risk_tier: 'high', allowed_topics: ['*'], allowed_pools: ['*'], allowed_tools: ['*'] }; // prettier-ignore
    const [from, to] = await Promise.all([as.post(agents, body), as.post(agents, body)]);
    const id = String(to.body['id']);
    const submit = async (more: object = {}) =>
      String((await as.post('/api/v1/jobs', { prompt: 'x', ...more }, { 'X-Agent-Id': id })).body['job_id']);
    const { body: issued } = await as.post(`${agents}/${String(from.body['id'])}/delegate`, { target_agent_id: id });
    const [own, delegated] = [await submit(), await submit({ delegation_token: issued['token'] })];
    const shown = { agent_id: id, name: 'mailer', status: 'active', risk_tier: 'high' };
    expect((await explain(own)).body['agent']).toEqual(shown);

    await as.post(`${agents}/revoke-delegation`, { jti: issued['jti'] });
    await as.put(`${agents}/${id}`, { allowed_topics: [] });

    expect((await explain(own)).body['agent']).toEqual({ ...shown, refusal: { by: 'agent', reason: 'topic_not_in_allowed_list' } }); // prettier-ignore
    const { agent, checks } = (await explain(delegated)).body as { agent: object; checks: { check: string }[] };
    expect(agent).toEqual({ ...shown, delegation: issued['jti'], refusal: { by: 'delegation', reason: 'revoked' } });
    expect(checks.find(({ check }) => check === 'agent')).toMatchObject({ outcome: 'would_block' });
  });

  it('404: an unknown job; 403: a job of another tenant', async () => {
    const id = await api.given.job({ tenant: 'globex' });

    expect(await explain('nope')).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
    expect(await explain(id)).toMatchObject({ status: 403, body: { code: 'tenant_access_denied' } });
  });
});
