import { eventually } from '@svc/testing';
import { createHash } from 'node:crypto';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const path = '/api/v1/config';
const put = (body: unknown, as = api.as('admin')) => as.send('PUT', path, JSON.stringify(body));
const post = (body: unknown, as = api.as('admin')) => as.post(path, body);
const get = (query = '', as = api.as('admin')) => as.get(`${path}${query}`);
const envelope = async (query: string) => (await get(`${query}&envelope=true`)).body;
const team = (data: object, more: object = {}) => ({ scope: 'team', scope_id: 'dock', data, ...more });

describe('GET /api/v1/config', () => {
  it('200: system/default exists, empty, before the first write; 404: other documents', async () => {
    expect(await get()).toMatchObject({ status: 200, body: {} });
    expect((await get()).body).toEqual({});
    expect((await get('?envelope=1')).body).toEqual({
      ...{ scope: 'system', scope_id: 'default', data: {}, revision: 0, updated_at: '', meta: {} },
    });
    for (const query of ['?scope_id=policy', '?scope=org', '?scope=team&scope_id=dock', '?revision=1'])
      expect(statusAndCode(await get(query))).toEqual({ status: 404, code: 'CONFIG_NOT_FOUND' });
  });

  it('200: the data, or with envelope the whole document', async () => {
    await put({ scope: 'org', data: { a: 1 }, meta: { why: 'harbour' } });

    expect((await get('?scope=org')).body).toEqual({ a: 1 });
    expect(await envelope('?scope=org')).toEqual({
      ...{ scope: 'org', scope_id: 'acme', data: { a: 1 }, revision: 1, meta: { why: 'harbour' } },
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  it('200: a document with a lone surrogate can be read and written again', async () => {
    await put({ scope: 'org', data: { '\ud800': 'a\udc00b' } });

    expect((await get('?scope=org')).body).toEqual({ '\ufffd': 'a\ufffdb' });
    expect((await put({ scope: 'org', data: { a: 1 } })).status).toBe(204);
  });

  it.each([
    ['an unknown scope', '?scope=planet'],
    ['a team without its id', '?scope=team'],
    ['a step with a blank id', '?scope=step&scope_id=%20'],
    ['a revision that is none', '?revision=0'],
  ])('400: %s', async (_, query) => {
    expect(statusAndCode(await get(query))).toEqual({ status: 400, code: 'CONFIG_REQUEST_INVALID' });
  });

  it('403: without RBAC, operators read all scopes except system, and viewers none', async () => {
    await put({ scope: 'org', data: { a: 1 } });

    expect((await get('?scope=org', api.as('operator'))).body).toEqual({ a: 1 });
    expect(statusAndCode(await get('', api.as('operator')))).toEqual({ status: 403, code: 'access_denied' });
    expect(statusAndCode(await get('?scope=org', api.as('viewer')))).toEqual({ status: 403, code: 'access_denied' });
    api.license('enterprise');
    expect((await get('', api.as('operator'))).status).toBe(200);
  });

  it('400: a revision or data of type text', async () => {
    for (const more of [{ revision: '0' }, { data: '{"a":1}' }, { meta: '{}' }])
      expect(statusAndCode(await put(team({ a: 1 }, more)))).toEqual({ status: 400, code: 'CONFIG_SCHEMA_VIOLATION' });

    expect((await get('?scope=team&scope_id=dock')).status).toBe(404);
  });

  it('200: the last 20 revisions; 404: older and future ones', async () => {
    for (let i = 1; i <= 22; i++) await put(team({ i }));
    const at = (revision: number) => get(`?scope=team&scope_id=dock&revision=${revision}`);

    for (const revision of [3, 4, 21, 22]) expect((await at(revision)).body).toEqual({ i: revision });
    for (const revision of [1, 2, 23]) expect(statusAndCode(await at(revision))).toEqual({ status: 404, code: 'CONFIG_NOT_FOUND' });
    expect(await envelope('?scope=team&scope_id=dock&revision=9')).toMatchObject({ revision: 9, data: { i: 9 } });
  });
}); // prettier-ignore

describe.each([['PUT', put] as const, ['POST', post] as const])('%s /api/v1/config', (_, write) => {
  it('204: each key of the data replaces that key, null removes it, and meta is merged the same way', async () => {
    await write({ scope: 'org', data: { a: { x: 1 }, b: 2, c: 3 }, meta: { by: 'ann', why: 'first' } });
    const { status } = await write({ scope: 'org', data: { a: { y: 1 }, b: null, d: null }, meta: { why: null } });

    expect(status).toBe(204);
    const stored = await envelope('?scope=org');
    expect(stored).toMatchObject({ data: { a: { y: 1 }, c: 3 }, meta: { by: 'ann' }, revision: 2 });
    expect([stored['data'], stored['meta']].map((part) => Object.keys(part as object))).toEqual([['a', 'c'], ['by']]);
  });

  it('204: without a string scope the whole body is data for system/default', async () => {
    await write({ scope: 7, data: { a: 1 } });

    expect((await get()).body).toEqual({ scope: 7, data: { a: 1 } });
  });
});

describe('a write', () => {
  it('409: for an outdated revision, with the newest revision', async () => {
    await put(team({ a: 1 }));
    await put(team({ a: 2 }, { revision: 1 }));

    const stale = await put(team({ a: 3 }, { revision: 1 }));

    expect(stale).toMatchObject({ status: 409, body: { code: 'CONFIG_VERSION_CONFLICT', revision: 2 } });
    expect((await get('?scope=team&scope_id=dock')).body).toEqual({ a: 2 });
    expect((await put({ scope: 'org', data: {}, revision: 1 })).status).toBe(409);
    expect((await put({ scope: 'org', data: {}, revision: 0 })).status).toBe(204);
  });

  it('of 50 concurrent ones none is lost, and those that lose every race get 409', async () => {
    const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);

    const answers = await Promise.all(keys.map((key) => put(team({ [key]: 1 }))));

    const written = keys.filter((_, i) => answers[i]?.status === 204);
    const lost = answers.filter(({ status }) => status !== 204);
    const stored = await envelope('?scope=team&scope_id=dock');
    expect(Object.keys(stored['data'] as object).sort()).toEqual([...written].sort());
    expect(stored['revision']).toBe(written.length);
    expect(written.length).toBeGreaterThan(0);
    expect(lost.map(statusAndCode)).toEqual(lost.map(() => ({ status: 409, code: 'CONFIG_VERSION_CONFLICT' })));
  });

  it('of 50 concurrent ones with the same revision one succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => put(team({ i }, { revision: 0 }))));

    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(await envelope('?scope=team&scope_id=dock')).toMatchObject({ revision: 1 });
  });

  it('notifies every replica of the document, without its content', async () => {
    await put(team({ canary: 'canary-5521' }));

    await eventually(async () => expect(await api.packets()).toEqual(['sys.config.changed']));
    const text = (await api.published()).map(({ bytes }) => Buffer.from(bytes).toString()).join();
    expect(text).toContain('dock');
    expect(text).not.toContain('canary');
  });

  it('takes effect immediately', async () => {
    await put({ scope: 'org', data: { limits: { max_concurrent_jobs: 1 } } });
    const submit = () => api.as('user').post('/api/v1/jobs', { prompt: 'x' });

    expect((await submit()).status).toBe(200);
    expect(statusAndCode(await submit())).toEqual({ status: 429, code: 'BACKPRESSURE' });
    await put({ scope: 'org', data: { limits: null } });
    expect((await submit()).status).toBe(200);
  });

  it('400: bundles in system/default, in either form', async () => {
    const forbiddenKey = { status: 400, code: 'CONFIG_KEY_FORBIDDEN' };

    expect(statusAndCode(await put({ bundles: {} }))).toEqual(forbiddenKey);
    expect(statusAndCode(await put({ scope: 'system', data: { bundles: {} } }))).toEqual(forbiddenKey);
    expect(statusAndCode(await put({ scope: 'system', scope_id: ' ', data: { bundles: null } }))).toEqual(forbiddenKey);
    expect((await put({ scope: 'system', scope_id: 'policy', data: { bundles: {} } })).status).toBe(204);
  });

  it.each([
    ['an unknown scope', { scope: 'planet', data: {} }, 'CONFIG_REQUEST_INVALID', 'scope'],
    ['a team without its id', { scope: 'team', data: {} }, 'CONFIG_SCHEMA_VIOLATION', 'scope_id'],
    ['no data', { scope: 'org' }, 'CONFIG_SCHEMA_VIOLATION', 'data'],
    ['data that is no object', { scope: 'org', data: [] }, 'CONFIG_SCHEMA_VIOLATION', 'data'],
    ['meta that is no map of texts', { scope: 'org', data: {}, meta: { a: 1 } }, 'CONFIG_SCHEMA_VIOLATION', 'meta'],
    ['a revision that is none', { scope: 'org', data: {}, revision: 1.5 }, 'CONFIG_SCHEMA_VIOLATION', 'revision'],
    ['an unknown field', { scope: 'org', data: {}, dta: {} }, 'invalid_json', 'dta'],
  ])('400: %s', async (_, body, code, field) => {
    const answer = await put(body);

    expect(statusAndCode(answer)).toEqual({ status: 400, code });
    expect(answer.body['violations']).toMatchObject([{ in: 'body', field }]);
    expect(await api.packets()).toEqual([]);
  });

  it('400: too many keys or bytes; an oversized document may shrink', async () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));

    expect((await put(team(keys(256)))).status).toBe(204);
    expect(statusAndCode(await put(team({ more: 1 })))).toEqual({ status: 400, code: 'CONFIG_SCHEMA_VIOLATION' });
    expect((await put(team({ k0: 'changed' }))).status).toBe(204);
    expect(statusAndCode(await put(team({ k0: 'x'.repeat(65_536) })))).toEqual({ status: 400, code: 'CONFIG_SCHEMA_VIOLATION' });
    expect((await put({ big: 'x'.repeat(65_536) })).status).toBe(204);
  });

  it('403: operators; 401: anonymous callers', async () => {
    expect(statusAndCode(await put({ scope: 'org', data: {} }, api.as('operator')))).toEqual({ status: 403, code: 'access_denied' });
    expect((await put({ scope: 'org', data: {} }, api.anonymous)).status).toBe(401);
  });
}); // prettier-ignore

describe('GET /api/v1/config/effective', () => {
  const effective = (query = '', as = api.as('operator')) => as.get(`${path}/effective${query}`);
  const sha = (text: string) => createHash('sha256').update(text).digest('hex');

  it('200: an empty object without revisions if there are no documents', async () => {
    expect((await effective()).body).toEqual({
      ...{ version: 'system:0|org:0|team:0|workflow:0|step:0', data: {}, hash: sha('{}') },
    });
  });

  it('200: a key of a narrower document replaces the whole value of a wider one', async () => {
    await put({ b: { system: 1, kept: 1 }, a: 'system' });
    await put({ scope: 'org', data: { b: { org: 2 } } });
    await put(team({ t: 1 }));
    await put({ scope: 'workflow', scope_id: 'intake', data: { b: 'workflow' } });
    await put({ scope: 'step', scope_id: 'weigh', data: { s: 1 } });
    await put({ scope: 'step', scope_id: 'weigh', data: { s: 2 } });

    expect((await effective()).body).toEqual({
      ...{ version: 'system:1|org:1|team:0|workflow:0|step:0', data: { a: 'system', b: { org: 2 } } },
      hash: sha('{"a":"system","b":{"org":2}}'),
    });
    expect((await effective('?scope=workflow&scope_id=intake')).body).toMatchObject({
      ...{ version: 'system:1|org:1|team:0|workflow:1|step:0', data: { a: 'system', b: 'workflow' } },
    });
    expect((await effective('?org_id=acme&team_id=dock&workflow_id=intake&step_id=weigh')).body).toMatchObject({
      ...{ version: 'system:1|org:1|team:1|workflow:1|step:2', data: { a: 'system', b: 'workflow', t: 1, s: 2 } },
    });
  });

  it.each([
    ['an unknown scope', '?scope=planet', 400, 'CONFIG_REQUEST_INVALID'],
    ['a team without its id', '?scope=team', 400, 'CONFIG_REQUEST_INVALID'],
    ['an id without a scope', '?scope_id=dock', 400, 'CONFIG_REQUEST_INVALID'],
    ['both ways of asking', '?scope=team&scope_id=dock&step_id=weigh', 400, 'CONFIG_REQUEST_INVALID'],
    ['a system document that is not merged', '?scope=system&scope_id=policy', 400, 'CONFIG_REQUEST_INVALID'],
    ['another tenant’s id', '?org_id=globex', 403, 'tenant_access_denied'],
    ['another tenant’s scope', '?scope=org&scope_id=globex', 403, 'CONFIG_KEY_FORBIDDEN'],
  ])('rejects %s', async (_, query, status, code) => {
    expect(statusAndCode(await effective(query))).toEqual({ status, code });
  });
});
