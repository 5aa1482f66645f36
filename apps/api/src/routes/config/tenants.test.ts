import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const path = '/api/v1/config';
const write = (body: object, as = api.as('admin'), headers = {}) => as.post(path, body, headers);
const read = (query: string, as = api.as('admin'), headers = {}) => as.get(`${path}?${query}`, headers);
const notFound = { status: 404, code: 'CONFIG_NOT_FOUND' };
const forbidden = { status: 403, code: 'CONFIG_KEY_FORBIDDEN' };

describe('config documents of another tenant', () => {
  it('403: the document of its org is neither read nor written', async () => {
    await write({ scope: 'org', data: { a: 1 } });
    const other = api.as('other');

    expect(statusAndCode(await read('scope=org&scope_id=acme', other))).toEqual(forbidden);
    expect(statusAndCode(await read('scope=org&scope_id=acme&revision=1', other))).toEqual(forbidden);
    expect(statusAndCode(await write({ scope: 'org', scope_id: 'acme', data: { a: 2 } }, other))).toEqual(forbidden);
    expect((await write({ scope: 'org', data: { a: 3 } }, other)).status).toBe(204);
    expect((await read('scope=org')).body).toEqual({ a: 1 });
    expect((await read('scope=org', other)).body).toEqual({ a: 3 });
  });

  it.each(['team', 'workflow', 'step'])('404: a document of scope %s is neither visible to other tenants nor in effect for them', async (scope) => {
    const at = `scope=${scope}&scope_id=x`;
    await write({ scope, scope_id: 'x', data: { a: 1 } });

    expect(statusAndCode(await read(at, api.as('other')))).toEqual(notFound);
    expect(statusAndCode(await read(`${at}&revision=1&envelope=1`, api.as('other')))).toEqual(notFound);
    expect(statusAndCode(await write({ scope, scope_id: 'x', data: { b: 1 } }, api.as('other')))).toEqual(notFound);
    expect((await api.as('other').get(`${path}/effective?${scope}_id=x`)).body['data']).toEqual({});
    expect(await api.ctx.submit.config.at({ tenant: 'globex', [scope]: 'x' })).toBeUndefined();
    expect(await api.ctx.submit.config.at({ tenant: 'acme', [scope]: 'x' })).toEqual({ a: 1 });
    expect((await read(`${at}&envelope=1`)).body).toMatchObject({ data: { a: 1 }, revision: 1, meta: { tenant: 'acme' } });
  });

  it('403: the owner of a document cannot be set by the caller', async () => {
    const team = { scope: 'team', scope_id: 'x', data: {} };

    expect(statusAndCode(await write({ ...team, meta: { tenant: 'globex' } }))).toEqual(forbidden);
    expect((await write(team)).status).toBe(204);
    expect(statusAndCode(await write({ ...team, meta: { tenant: null } }))).toEqual(forbidden);
    expect((await write({ ...team, meta: { tenant: 'acme' } })).status).toBe(204);
  });

  it('400: the maximum number of documents per tenant, independent of other tenants', async () => {
    const full = Array.from({ length: 1_000 }, (_, i) => `team:t${i}`);
    await api.store.redis.sadd('svc:cfg:of:acme', ...full);
    const made = (scope_id: string, as = api.as('admin')) => write({ scope: 'team', scope_id, data: {} }, as);

    expect((await made('new')).body).toMatchObject({
      ...{ status: 400, code: 'CONFIG_SCHEMA_VIOLATION', violations: [{ field: 'scope_id' }] },
    });
    expect((await made('new', api.as('other'))).status).toBe(204);
  });

  it('a credential for all tenants reads all documents and does not change their owner', async () => {
    await write({ scope: 'team', scope_id: 'x', data: { a: 1 } }, api.as('other'));
    const everywhere = api.as('everywhere');

    expect((await write({ scope: 'team', scope_id: 'x', data: { b: 1 } }, everywhere)).status).toBe(204);
    expect((await read('scope=team&scope_id=x&envelope=1', everywhere)).body).toMatchObject({
      ...{ data: { a: 1, b: 1 }, meta: { tenant: 'globex' } },
    });
    expect((await read('scope=team&scope_id=x', api.as('other'))).body).toEqual({ a: 1, b: 1 });
    expect(statusAndCode(await read('scope=team&scope_id=x', everywhere, { 'X-Tenant-ID': 'acme' }))).toEqual(notFound);
  });
}); // prettier-ignore

describe('documents of all tenants', () => {
  it('403: are written only by the default tenant or with cross-tenant access', async () => {
    const policy = { scope: 'system', scope_id: 'policy', data: { bundles: {} } };

    for (const body of [{ a: 1 }, { scope: 'system', data: { a: 1 } }, policy])
      expect(statusAndCode(await write(body, api.as('other')))).toEqual(forbidden);
    expect((await write(policy)).status).toBe(204);
    expect((await write({ a: 1 }, api.as('everywhere'), { 'X-Tenant-ID': 'globex' })).status).toBe(204);
  });

  it('200: system/default is readable by every tenant; 403: other system documents', async () => {
    await write({ a: 1 });
    await write({ scope: 'system', scope_id: 'topics', data: { 'tenant:acme:job.secret': { pool: 'demo' } } });

    expect((await read('', api.as('other'))).body).toEqual({ a: 1 });
    expect(statusAndCode(await read('scope_id=topics', api.as('other')))).toEqual(forbidden);
    expect((await read('scope_id=topics')).body).toEqual({ 'tenant:acme:job.secret': { pool: 'demo' } });
  });
});
