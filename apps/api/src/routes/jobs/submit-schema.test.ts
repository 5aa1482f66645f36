import { changeDocument } from '@svc/settings';
import { useApi, type Api } from '../../api.testing';

const order = {
  $id: 'acme:order',
  type: 'object',
  required: ['sku'],
  properties: { sku: { $ref: 'acme:sku' } },
};
const sku = { $id: 'acme:sku', type: 'string', pattern: '^[A-Z]+$' };

const submit = (api: Api, context: unknown) =>
  api
    .as('user')
    .post('/api/v1/jobs', { prompt: 'x', topic: 'job.demo.order', ...(context !== undefined && { context }) });
const register = (api: Api, id: string, schema: object) => api.as('admin').post('/api/v1/schemas', { id, schema });
async function topic(api: Api, input_schema_id: string) {
  const answer = await api
    .as('admin')
    .post('/api/v1/topics', { name: 'job.demo.order', pool: 'demo', input_schema_id });
  expect(answer.status).toBe(201);
}

describe('POST /api/v1/jobs when schemas are enforced', () => {
  const api = useApi({ env: { SCHEMA_ENFORCEMENT: 'enforce' } });
  beforeEach(async () => {
    await register(api, 'order', order);
    await register(api, 'sku', sku);
  });

  it('200: an input that matches its topic’s schema and referenced schemas', async () => {
    await topic(api, 'order');

    expect((await submit(api, { sku: 'ABC' })).status).toBe(200);
  });

  it('400: an input that does not match, with every violation; nothing is stored', async () => {
    await topic(api, 'order');

    expect((await submit(api, { sku: 'abc' })).body).toMatchObject({
      status: 400,
      code: 'schema_validation_failed',
      error_code: 'schema_validation_failed',
      violations: [{ path: '/sku', message: 'must match pattern "^[A-Z]+$"' }],
    });
    expect((await submit(api, {})).body['violations']).toEqual([
      { path: '$', message: "must have required property 'sku'" },
    ]);
    expect(await api.store.redis.keys('{s0}:job:*')).toEqual([]);
  });

  it('validates the input document itself if there is no context', async () => {
    await register(api, 'document', { required: ['prompt', 'tenant_id'], properties: { context: false } });
    await topic(api, 'document');

    expect((await submit(api, undefined)).status).toBe(200);
    expect((await submit(api, null)).status).toBe(200);
    expect((await submit(api, {})).status).toBe(400);
  });

  it('400: a schema with a missing reference rejects all inputs', async () => {
    await topic(api, 'order');
    await api.as('admin').del('/api/v1/schemas/sku');

    expect((await submit(api, { sku: 'ABC' })).body['violations']).toEqual([
      { path: '$', message: expect.stringContaining('acme:sku, which is not registered') as string },
    ]);
  });

  it('a replaced schema applies from the next job on', async () => {
    await topic(api, 'order');
    expect((await submit(api, { sku: 'abc' })).status).toBe(400);

    await register(api, 'sku', { ...sku, pattern: '^[a-z]+$' });

    expect((await submit(api, { sku: 'abc' })).status).toBe(200);
  });
});

/** Status for an input that does not match, by config. */
async function submitMismatch(api: Api, schema_enforcement?: string) {
  const data = { boundary_hardening: { schema_enforcement } };
  await changeDocument(api.ctx.config, { scope: 'system', scope_id: 'default' }, () => ({ data }));
  await register(api, 'order', order);
  await register(api, 'sku', sku);
  await topic(api, 'order');
  return (await submit(api, { sku: 7 })).status;
}

describe('POST /api/v1/jobs when SCHEMA_ENFORCEMENT is not set', () => {
  const api = useApi();

  it.each([
    [undefined, 200],
    ['off', 200],
    ['enforce', 400],
    ['whatever', 200],
  ])('config decides: %s returns %i', async (mode, status) => {
    expect(await submitMismatch(api, mode)).toBe(status);
  });
});

describe('POST /api/v1/jobs when SCHEMA_ENFORCEMENT is warn', () => {
  const api = useApi({ env: { SCHEMA_ENFORCEMENT: 'warn' } });

  it('200: regardless of config', async () => {
    expect(await submitMismatch(api, 'enforce')).toBe(200);
  });
});
