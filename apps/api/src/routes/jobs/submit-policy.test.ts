import { changeDocument } from '@svc/settings';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

describe('POST /api/v1/jobs: policy and limits', () => {
  const api = useApi();
  const submit = (body: object = {}) => api.as('user').post('/api/v1/jobs', { prompt: 'say hello', ...body });
  const configure = async (data: Record<string, unknown>, scope = 'org', scope_id = 'acme') => {
    await changeDocument(api.ctx.config, { scope, scope_id }, () => ({ data }));
    api.ctx.submit.config.changed();
  };
  const stored = async () => (await api.store.index.page('acme', {}, 500)).items.length;

  it('403: denied, with the id of a job that records the denial, and a dead letter', async () => {
    const { status, body, headers } = await submit({ topic: 'job.demo.wipe', risk_tags: ['destructive'] });

    expect({ status, body }).toMatchObject({
      status: 403,
      body: { code: 'policy_denied', reason: 'stores are never wiped by agents', trace_id: headers['x-trace-id'] },
    });
    const id = String(body['job_id']);
    const detail = (await api.as('admin').get(`/api/v1/jobs/${id}`)).body;
    expect(detail).toMatchObject({
      state: 'DENIED',
      error_code: 'policy_denied',
      error_status: 'JOB_STATUS_DENIED',
      last_state: 'PENDING',
      safety_decision: 'DENY',
      safety_rule_id: 'demo-no-wipe',
      safety_remediations: [{ id: 'archive' }],
      result: { job_id: id, status: 'JOB_STATUS_DENIED', error: { message: 'stores are never wiped by agents' } },
    });
    expect((await api.as('admin').get('/api/v1/dlq')).body).toMatchObject([
      { job_id: id, tenant: 'acme', topic: 'job.demo.wipe', reason_code: 'policy_denied', status: 'JOB_STATUS_DENIED' },
    ]);
  });

  it('403: a topic that no rule allows', async () => {
    await api.policy("version: '1'\ndefault_decision: deny\nrules: []\n");

    expect(statusAndCode(await submit())).toEqual({ status: 403, code: 'policy_denied' });

    await api.policy();
  });

  it('200: held for approval, with the reason, and not dispatched before a resolution', async () => {
    const { status, body } = await submit({ topic: 'job.demo.refund', context: { amount: 900 } });

    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'approval_required', reason: 'refunds above 250 need a person' },
    });
    const id = String(body['job_id']);
    expect((await api.as('admin').get(`/api/v1/jobs/${id}`)).body).toMatchObject({
      state: 'APPROVAL_REQUIRED',
      approval_required: true,
      approval_ref: id,
      approval_status: 'pending',
      approval_actionability: 'actionable',
      approval_revision: 1,
    });
    expect(await api.packets()).toEqual([]);
  });

  it('200: allowed with constraints, which are stored with the job', async () => {
    const { body } = await submit({ topic: 'job.demo.sandboxed' });

    expect((await api.as('admin').get(`/api/v1/jobs/${String(body['job_id'])}`)).body).toMatchObject({
      state: 'PENDING',
      safety_decision: 'ALLOW_WITH_CONSTRAINTS',
      safety_constraints: { budgets: { max_runtime_ms: 60_000 }, sandbox: { isolated: true } },
    });
  });

  it('429: throttled, with the time to wait, and nothing is stored or reserved', async () => {
    const burst = { topic: 'job.demo.burst', idempotency_key: 'k' };
    api.license('enterprise');
    for (let i = 0; i < 3; i++) await submit({ topic: 'job.demo.burst' });

    const answer = await submit(burst);

    expect(statusAndCode(answer)).toEqual({ status: 429, code: 'policy_throttled' });
    expect(answer.headers['retry-after']).toBe('5');
    expect(await stored()).toBe(3);
    expect(await api.store.jobs.reserved('acme', 'k')).toBeUndefined();
  });

  it('429: too many active jobs, before policy is evaluated, until one ends', async () => {
    await configure({ rate_limits: { concurrent_jobs: 1, queue_size: 1 } });
    const [first] = [(await submit()).body['job_id'], (await submit()).body['job_id']];

    const refused = await submit();
    await api.as('admin').post(`/api/v1/jobs/${String(first)}/cancel`);

    expect(refused.body).toMatchObject({ status: 429, code: 'BACKPRESSURE', current: 2, limit: 2 });
    expect(refused.headers['retry-after']).toBe('1');
    expect((await submit()).status).toBe(200);
  });

  it('429: concurrent submissions do not exceed the limit', async () => {
    await configure({ limits: { max_concurrent_jobs: 5 } });

    const answers = await Promise.all(Array.from({ length: 20 }, () => submit()));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(await stored()).toBe(5);
  });

  it.each([
    ['the whole system', 'system', 'default'],
    ['the tenant', 'org', 'acme'],
    ['the team', 'team', 'red'],
  ])('429: limits of %s are enforced', async (_whose, scope, id) => {
    await configure({ limits: { max_concurrent_jobs: 1 } }, scope, id);
    await submit({ team_id: 'red' });

    expect(statusAndCode(await submit({ team_id: 'red' }))).toEqual({ status: 429, code: 'BACKPRESSURE' });
  });

  it('403: a memory id that config denies or does not allow, if one was sent', async () => {
    await configure({ context: { denied_memory_ids: ['secret-*'], allowed_memory_ids: ['*-notes'] } });
    const violation = { status: 403, code: 'MEMORY_POLICY_VIOLATION' };

    expect(statusAndCode(await submit({ memory_id: 'secret-notes' }))).toEqual(violation);
    expect(statusAndCode(await submit({ memory_id: 'mem:other' }))).toEqual(violation);
    expect((await submit({ memory_id: 'team-notes' })).status).toBe(200);
    expect((await submit()).status).toBe(200);
  });

  it.each([['text'], [['a']], [{ denied_memory_ids: 'secret-*' }], [{ allowed_memory_ids: [1] }]])(
    '503: an unreadable memory section rejects all memory ids (%j)',
    async (context) => {
      await configure({ context });

      expect(statusAndCode(await submit({ memory_id: 'm' }))).toEqual({ status: 503, code: 'MEMORY_POLICY_VIOLATION' });
    },
  );

  it('200: the maximum deadline shortens longer ones and does not set one', async () => {
    await configure({ resources: { max_timeout_seconds: 60 } });
    const deadline = async (deadline_ms: number) => {
      const { body } = await submit({ deadline_ms });
      const job = await api.store.jobs.load(String(body['job_id']));
      return job && job.deadline_ms && Math.round((job.deadline_ms - job.created_at / 1_000) / 10_000);
    };

    expect(await Promise.all([deadline(3_600_000), deadline(30_000), deadline(0)])).toEqual([6, 3, 0]);
  });
});

describe.each([
  ['closed', { status: 503, code: 'safety_unavailable' }],
  ['open', { status: 200, code: undefined }],
] as const)('POST /api/v1/jobs while policy is unavailable, fail mode %s', (mode, expected) => {
  const api = useApi({
    env: { POLICY_CHECK_FAIL_MODE: mode },
    context: (ctx) => ({
      ...ctx,
      submit: {
        ...ctx.submit,
        kernel: { ...ctx.submit.kernel, evaluate: () => Promise.reject(new Error('gone')) } as typeof ctx.submit.kernel,
      },
    }),
  });

  it(`returns ${expected.status}`, async () => {
    const answer = await api.as('user').post('/api/v1/jobs', { prompt: 'x' }, { 'Idempotency-Key': 'k' });

    expect(statusAndCode(answer)).toEqual(expected);
    const { items } = await api.store.index.page('acme', {}, 10);
    const labels = { safety_bypassed: 'true', safety_bypass_reason: 'safety_unavailable' };
    expect(items).toMatchObject(mode === 'open' ? [{ state: 'PENDING', request: { labels } }] : []);
    expect((await api.store.jobs.reserved('acme', 'k')) === undefined).toBe(mode === 'closed');
  });
});
