import { changeDocument } from '@svc/settings';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { createRunClient } from './given-runs.testing';

const api = useApi();
const runs = createRunClient(api);
const wait = { pause: { type: 'delay', delay_sec: 600 } };

describe('POST /api/v1/workflows/:id/runs', () => {
  beforeEach(() => runs.workflow(wait));

  it('200: the run is visible immediately, pending, with its input and starter', async () => {
    const answer = await runs.start({ crates: 2 }, { query: '?team_id=red', headers: { 'X-Request-Id': 'req-1' } });

    const id = String(answer.body['run_id']);
    expect(answer).toMatchObject({ status: 200, headers: { 'x-trace-id': id } });
    expect((await runs.get(id)).body).toMatchObject({
      id,
      workflow_id: 'intake',
      workflow_revision: 1,
      org_id: 'acme',
      team_id: 'red',
      input: { crates: 2 },
      status: 'pending',
      started_at: null,
      completed_at: null,
      output: null,
      error: null,
      steps: {},
      total_cost: 0,
      triggered_by: 'ann',
      metadata: { request_id: 'req-1' },
    });
  });

  it('200: without a body the input is {}; a dry run is marked in labels and metadata', async () => {
    const { body } = await api.as('admin').post('/api/v1/workflows/intake/runs?dry_run=yes');

    expect((await runs.get(String(body['run_id']))).body).toMatchObject({
      input: {},
      dry_run: true,
      labels: { dry_run: 'true' },
      metadata: { dry_run: 'true' },
    });
  });

  it.each([
    ['the header', { headers: { 'Idempotency-Key': 'k' } }],
    ['the older header', { headers: { 'X-Idempotency-Key': 'k' } }],
    ['the query', { query: '?idempotency_key=k' }],
    ['the query as others write it', { query: '?idempotency-key=k' }],
  ])('200: concurrent requests with the same key in %s start one run, which all return', async (_, how) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => runs.start({ n: 1 }, how)));

    expect(new Set(answers.map(({ body }) => body['run_id'])).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(7);
    expect((await runs.list()).ids).toHaveLength(1);
  });

  it('409: the same key with another input; keys are scoped by workflow', async () => {
    const how = { headers: { 'Idempotency-Key': 'k' } };
    await runs.run({ n: 1 }, how);
    await runs.workflow(wait, { id: 'other' });

    expect(statusAndCode(await runs.start({ n: 2 }, how))).toEqual({ status: 409, code: 'RUN_IDEMPOTENCY_CONFLICT' });
    expect((await runs.start({ n: 1 }, { ...how, workflow: 'other' })).status).toBe(200);
    expect((await runs.list()).ids).toHaveLength(2);
  });

  it('400: invalid input, with all violations; defaults are filled in', async () => {
    const input_schema = { type: 'object', required: ['crates'], properties: { crates: { type: 'integer' } } };
    const parameters = [
      { name: 'lane', default: 'slow' },
      { name: 'berth', required: true },
    ];
    await runs.workflow(wait, { input_schema, parameters });

    const bad = await runs.start({ crates: 'two' });
    expect(statusAndCode(bad)).toEqual({ status: 400, code: 'input_schema_validation_failed' });
    expect((bad.body['violations'] as { path: string }[]).map(({ path }) => path)).toEqual(['/berth', '/crates']);
    const id = await runs.run({ crates: 2, berth: 'n' });
    expect((await runs.get(id)).body['input']).toEqual({ crates: 2, berth: 'n', lane: 'slow' });
  });

  it('400: input that is not an object, and an invalid memory id', async () => {
    expect((await api.as('admin').post('/api/v1/workflows/intake/runs', [1])).status).toBe(400);
    expect(statusAndCode(await runs.start({ memory_id: '  ' }))).toMatchObject({ status: 400 });
    expect((await runs.list()).ids).toEqual([]);
  });

  it('403: another tenant’s name and workflow; 404: an unknown workflow', async () => {
    expect((await runs.start({}, { query: '?org_id=globex' })).status).toBe(403);
    expect((await runs.start({}, { who: 'other' })).status).toBe(403);
    expect(statusAndCode(await runs.start({}, { workflow: 'none' }))).toEqual({
      status: 404,
      code: 'workflow_not_found',
    });
  });

  it('429: the maximum number of active runs of the tenant', async () => {
    const data = { limits: { max_concurrent_runs: 3 } };
    await changeDocument(api.ctx.config, { scope: 'org', scope_id: 'acme' }, () => ({ data }));
    api.ctx.runs.config.changed();

    const answers = await Promise.all(Array.from({ length: 9 }, () => runs.start()));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({
      code: 'RUN_NOT_RUNNABLE',
      current: 3,
      limit: 3,
    });
  });

  it('403: the maximum number of active runs of the plan', async () => {
    api.license('enterprise', { max_active_workflows: 2 });
    await runs.run();
    await runs.run();

    expect((await runs.start()).body).toMatchObject({
      status: 403,
      code: 'tier_limit_exceeded',
      limit: 'max_active_workflows',
      current: 2,
      allowed: 2,
    });
  });
});
