import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const put = (id: string, schema: object, as = api.as('admin')) => as.post('/api/v1/schemas', { id, schema });
const get = (path = '', as = api.as('viewer')) => as.get(`/api/v1/schemas${path}`);
const remove = (id: string) => api.as('admin').del(`/api/v1/schemas/${encodeURIComponent(id)}`);

describe('POST /api/v1/schemas', () => {
  it('204: a schema is stored as sent, and replaced', async () => {
    expect((await put('acme/In', { type: 'object', default: {} })).status).toBe(204);
    expect((await put('acme/In', { type: 'array' })).status).toBe(204);

    expect((await get('/acme%2FIn')).body).toEqual({ id: 'acme/In', schema: { type: 'array' } });
  });

  it('204: referenced schemas may be registered later', async () => {
    expect((await put('a', { $ref: 'acme:later' })).status).toBe(204);
  });

  it.each([
    ['a blank id', ' ', {}],
    ['an id that the service needs', 'index', {}],
    ['a schema that is none', 'a', { type: 'colour' }],
    ['a pattern that could run away', 'a', { pattern: '(a+)+(?=b)' }],
    ['a schema with too many parts', 'a', { anyOf: Array.from({ length: 1_001 }, () => ({})) }],
  ])('400: %s', async (_, id, schema) => {
    const answer = await put(id, schema);

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'CONFIG_SCHEMA_VIOLATION' });
    expect(answer.body['violations']).not.toEqual([]);
  });

  it('400: an $id of another schema', async () => {
    await put('a', { $id: 'acme:item' });

    expect((await put('b', { $id: 'acme:item' })).body).toMatchObject({
      status: 400,
      violations: [
        { path: '/$id', message: 'is already the $id of schema a: choose another, or remove that schema first' },
      ],
    });
  });

  it('403: one more than the plan allows', async () => {
    api.license('enterprise', { max_schema_count: 1 });
    await put('a', {});

    expect((await put('b', {})).body).toMatchObject({
      status: 403,
      code: 'tier_limit_exceeded',
      limit: 'max_schema_count',
      current: 1,
      allowed: 1,
    });
    expect((await put('a', {})).status).toBe(204);
  });

  it('403: operators can read and not write schemas', async () => {
    expect((await put('a', {}, api.as('operator'))).status).toBe(403);
    expect((await get('', api.as('operator'))).status).toBe(200);
  });
});

describe('GET /api/v1/schemas', () => {
  it('200: ids, newest first, at most the requested number', async () => {
    for (const id of ['a', 'b', 'c']) await put(id, {});

    expect((await get()).body).toEqual({ schemas: ['c', 'b', 'a'] });
    expect((await get('?limit=2')).body).toEqual({ schemas: ['c', 'b'] });
  });

  it('404: an unknown schema', async () => {
    expect(statusAndCode(await get('/none'))).toEqual({ status: 404, code: 'CONFIG_SCHEMA_NOT_FOUND' });
  });
});

describe('DELETE /api/v1/schemas/:id', () => {
  it('204: also for an unknown schema; only a change is published', async () => {
    await put('acme/In', {});
    await api.packets();

    expect([await remove('acme/In'), await remove('acme/In')].map(({ status }) => status)).toEqual([204, 204]);

    expect(statusAndCode(await get('/acme%2FIn')).status).toBe(404);
    expect(await api.packets()).toEqual(['sys.config.changed', 'sys.config.changed']);
  });

  it.each(['input_schema_id', 'output_schema_id'])('409: a topic uses it as its %s', async (field) => {
    await put('acme/In', {});
    await api.as('admin').post('/api/v1/topics', { name: 'job.a', pool: 'demo', [field]: 'acme/In' });

    expect(statusAndCode(await remove('acme/In'))).toEqual({ status: 409, code: 'CONFIG_SCHEMA_IN_USE' });
    expect((await get('/acme%2FIn')).status).toBe(200);
  });
});
