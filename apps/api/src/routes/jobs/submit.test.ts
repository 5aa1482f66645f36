import { changeDocument } from '@svc/settings';
import { useApi } from '../../api.testing';
import { statusAndCode, type HttpAnswer } from '../../caller.testing';

describe('POST /api/v1/jobs: the request', () => {
  const api = useApi();
  const submit = (body: object, headers: Record<string, string> = {}) =>
    api.as('user').post('/api/v1/jobs', { prompt: 'say hello', ...body }, headers);
  const detail = async ({ body }: HttpAnswer) => (await api.as('admin').get(`/api/v1/jobs/${String(body['job_id'])}`)).body;
  const fieldsNamed = ({ body }: HttpAnswer) => (body['violations'] as { path: string }[]).map(({ path }) => path);

  it('200: a job with only a prompt is accepted with the defaults', async () => {
    const answer = await submit({});

    expect(answer).toMatchObject({ status: 200, headers: { 'x-trace-id': answer.body['trace_id'] } });
    expect(Object.keys(answer.body).sort()).toEqual(['job_id', 'trace_id']);
    const job = await detail(answer);
    expect(job).toMatchObject({
      state: 'PENDING',
      trace_id: answer.body['trace_id'],
      topic: 'job.default',
      tenant: 'acme',
      priority: 'interactive',
      memory_id: answer.body['job_id'],
      actor_id: 'uma',
      labels: {},
      safety_decision: 'ALLOW',
      context: { prompt: 'say hello', priority: 'interactive', topic: 'job.default', tenant_id: 'acme' },
    });
    expect(job).not.toHaveProperty('deadline_unix');
    expect((await api.store.jobs.load(String(answer.body['job_id'])))?.request).toMatchObject({
      max_input_tokens: 8_000,
      max_output_tokens: 1_024,
      context_mode: 'raw',
      principal_id: 'uma',
      labels: { _source: 'api' },
    });
  });

  it('200: a job without a priority gets that of its tenant’s or team’s config', async () => {
    const set = (scope: string, scope_id: string, default_priority: string) =>
      changeDocument(api.ctx.config, { scope, scope_id }, () => ({ data: { resources: { default_priority } } }));
    await set('org', 'acme', 'critical');
    await set('team', 'night', 'batch');
    api.ctx.submit.config.changed();

    const own = await detail(await submit({}));

    expect(own).toMatchObject({ priority: 'critical', context: { priority: 'critical' } });
    expect(await detail(await submit({ priority: '' }))).toMatchObject({ priority: 'critical' });
    expect(await detail(await submit({ priority: 'normal' }))).toMatchObject({ priority: 'interactive' });
    expect(await detail(await submit({ team_id: 'night' }))).toMatchObject({ priority: 'batch' });
  });

  it('200: every field is stored and returned', async () => {
    const fields = {
      topic: 'job.demo.echo',
      adapter_id: 'a',
      actor_id: 'someone',
      actor_type: 'human',
      pack_id: 'p',
      capability: 'c',
      risk_tags: ['r'],
      requires: ['q'],
      labels: { color: 'red', workflow_id: 'w', run_id: 'u', step_id: 's' },
    };
    const more = { tags: ['t'], context_mode: 'chat', team_id: 'team', project_id: 'proj', allow_retrieval: true, max_total_tokens: 9 };

    const answer = await submit({ ...fields, ...more, priority: 'HIGH', memory_id: 'mem:notes', context: [1], tenant_id: 'acme', unknown: 1 });

    expect(await detail(answer)).toMatchObject({
      ...fields,
      priority: 'critical',
      memory_id: 'notes',
      workflow_id: 'w',
      run_id: 'u',
      step_id: 's',
      context: { context: [1], adapter_id: 'a' },
    });
    expect((await api.store.jobs.load(String(answer.body['job_id'])))?.request).toMatchObject({ ...more, labels: { _source: 'pack' } });
  });

  it('200: a deadline is relative to the submission', async () => {
    const { deadline_unix, created_at } = await detail(await submit({ deadline_ms: 60_000 }));

    expect(Math.abs(Number(deadline_unix) - Number(created_at) - 60_000_000)).toBeLessThan(10_000_000);
  });

  it('200: a deadline beyond the range of dates is capped to a valid time', async () => {
    const job = await detail(await submit({ deadline_ms: Number.MAX_SAFE_INTEGER }));

    expect(Number.isSafeInteger(job['deadline_unix'])).toBe(true);
  });

  it.each([
    ['interactive', 'interactive'],
    ['Batch', 'batch'],
    ['CRITICAL', 'critical'],
    ['low', 'batch'],
    ['normal', 'interactive'],
    ['high', 'critical'],
    ['urgent', 'interactive'],
    ['constructor', 'interactive'],
    ['__proto__', 'interactive'],
  ])('200: priority %s is read as %s', async (priority, read) => {
    expect(await detail(await submit({ priority }))).toMatchObject({ priority: read });
  });

  it('200: reserved labels are dropped, and never returned', async () => {
    const reserved = { _hidden: '1', approval_granted: 'true', safety_x: '1', saga_id: '1', is_compensation: '1', gate_type: 'g' };

    const answer = await submit({ labels: { ...reserved, kept: 'yes' } });

    expect(await detail(answer)).toMatchObject({ labels: { kept: 'yes' } });
    expect((await api.store.jobs.load(String(answer.body['job_id'])))?.request.labels).toEqual({ kept: 'yes', _source: 'api' });
  });

  it.each([
    ['the prompt', { prompt: 'secret://vault/a' }],
    ['a string deep in the context', { context: { a: [{ b: 'secret://vault/a' }] } }],
  ])('200: a reference to a secret in %s marks the job', async (_where, body) => {
    const job = await detail(await submit({ ...body, risk_tags: ['x'] }));

    expect(job).toMatchObject({ risk_tags: ['x', 'secrets'], labels: { secrets_present: 'true' } });
  });

  it.each([
    ['labels beginning _governance.', { labels: { '_governance.x': '1' } }, 'labels._governance.x'],
    ['labels beginning _ma.', { labels: { '_ma.x': '1' } }, 'labels._ma.x'],
    ['a label name of 257 bytes', { labels: { ['é'.repeat(129)]: '1' } }, `labels.${'é'.repeat(64)}`],
    ['a label value of 4,097 bytes', { labels: { a: 'x'.repeat(4_097) } }, 'labels.a'],
    ['51 labels', { labels: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`l${i}`, ''])) }, 'labels'],
    ['51 tags', { tags: Array.from({ length: 51 }, String) }, 'tags'],
    ['a topic outside job.', { topic: 'sys.job.submit' }, 'topic'],
    ['a topic with an empty segment', { topic: 'job.a..b' }, 'topic'],
    ['a topic of 257 characters', { topic: `job.${'a'.repeat(253)}` }, 'topic'],
    ['an unknown actor_type', { actor_type: 'robot' }, 'actor_type'],
    ['negative tokens', { max_total_tokens: -1 }, 'max_total_tokens'],
    ['more tokens than 32 bits', { max_input_tokens: 2_147_483_648 }, 'max_input_tokens'],
    ['half a millisecond', { deadline_ms: 0.5 }, 'deadline_ms'],
  ])('400: %s', async (_what, body, path) => {
    const answer = await submit(body);

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'invalid_body' });
    expect(fieldsNamed(answer)).toEqual([path]);
  });

  it.each([
    ['', 400, 'prompt_is_required'],
    ['  \n', 400, 'prompt_is_required'],
    ['x'.repeat(50_000), 200, undefined],
    ['x'.repeat(50_001), 403, 'tier_limit_exceeded'],
    ['x'.repeat(500_001), 403, 'tier_limit_exceeded'],
  ])('prompt limits (%#)', async (prompt, status, code) => {
    expect(statusAndCode(await submit({ prompt }))).toEqual({ status, code });
  });

  it('a license can raise the prompt limit, up to the fixed maximum', async () => {
    api.license('enterprise', { max_prompt_chars: 60_000 });
    expect(statusAndCode(await submit({ prompt: 'x'.repeat(60_000) }))).toMatchObject({ status: 200 });
    expect((await submit({ prompt: 'x'.repeat(60_001) })).body).toMatchObject({
      status: 403,
      limit: 'max_prompt_chars',
      current: 60_001,
      allowed: 60_000,
    });

    api.license('enterprise', { max_prompt_chars: -1 });
    expect(statusAndCode(await submit({ prompt: 'x'.repeat(500_000) }))).toMatchObject({ status: 200 });
    expect(statusAndCode(await submit({ prompt: 'x'.repeat(500_001) }))).toMatchObject({ status: 403 });
  });

  it.each(['', 'mem:', '  '])('400: memory id %j', async (memory_id) => {
    expect(statusAndCode(await submit({ memory_id }))).toEqual({ status: 400, code: 'invalid_memory_id' });
  });

  it('400: a topic that no pool serves, with the served topics', async () => {
    const { body } = await submit({ topic: 'job.elsewhere' });

    expect(body).toMatchObject({
      status: 400,
      error: 'unknown topic',
      code: 'unknown_topic',
      error_code: 'unknown_topic',
      registered_topics: ['job.default', 'job.demo.*', 'job.demo.render'],
      truncated: false,
      topics_endpoint: '/api/v1/topics',
    });
  });

  it('403: only an admin may submit for another principal', async () => {
    expect(statusAndCode(await submit({ principal_id: 'ann' }))).toEqual({ status: 403, code: 'access_denied' });

    const answer = await api.as('admin').post('/api/v1/jobs', { prompt: 'x', principal_id: 'uma' });
    expect((await api.store.jobs.load(String(answer.body['job_id'])))?.request.principal_id).toBe('uma');
  });

  it('403: callers cannot claim to be an agent', async () => {
    expect(statusAndCode(await submit({ labels: { agent_id: 'a-1' } }))).toEqual({ status: 403, code: 'access_denied' });
  });

  it('a rejected request stores nothing', async () => {
    await submit({ topic: 'job.elsewhere' });
    await submit({ prompt: '' });

    const left = (await api.store.redis.keys('*')).filter((key) => !key.startsWith('svc:'));
    // The topic registry is filled on its first read.
    expect(left).toEqual(['cfg:system:topics']);
  });
}); // prettier-ignore
