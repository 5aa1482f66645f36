import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const order = { type: 'object', required: ['sku'] };
const forbidden = { status: 403, code: 'tenant_access_denied' };
const missing = { status: 404, code: 'CONFIG_SCHEMA_NOT_FOUND' };

describe('schemas of two tenants other than the default tenant', () => {
  const api = useApi({ env: { TENANT_ID: 'house', SCHEMA_ENFORCEMENT: 'enforce' } });
  const acme = () => api.as('admin');
  const globex = () => api.as('other');
  const installation = () => api.as('everywhere');
  const put = (as: ReturnType<typeof acme>, id: string, schema: object) => as.post('/api/v1/schemas', { id, schema });
  const get = (as: ReturnType<typeof acme>, id: string) => as.get(`/api/v1/schemas/${encodeURIComponent(id)}`);
  const remove = (as: ReturnType<typeof acme>, id: string) => as.del(`/api/v1/schemas/${encodeURIComponent(id)}`);
  const list = async (as: ReturnType<typeof acme>) => (await as.get('/api/v1/schemas')).body['schemas'];
  const topic = (as: ReturnType<typeof acme>, schema: string) =>
    as.post('/api/v1/topics', { name: 'job.demo.order', pool: 'demo', input_schema_id: schema });
  const submit = (context: object) => acme().post('/api/v1/jobs', { prompt: 'x', topic: 'job.demo.order', context });

  it.each([
    ['rejects everything', { not: {} }],
    ['accepts everything', {}],
  ])('403: a tenant cannot replace the schema of another by one that %s', async (_, replacement) => {
    await put(acme(), 'acme/Order', order);
    await topic(acme(), 'acme/Order');

    expect(statusAndCode(await put(globex(), 'acme/Order', replacement))).toEqual(forbidden);

    expect((await submit({ sku: 'a' })).status).toBe(200);
    expect((await submit({})).status).toBe(400);
    expect((await get(acme(), 'acme/Order')).body).toEqual({ id: 'acme/Order', schema: order });
  });

  it('403: a tenant cannot remove the schema of another', async () => {
    await put(acme(), 'acme/Order', order);

    expect(statusAndCode(await remove(globex(), 'acme/Order'))).toEqual(forbidden);

    expect((await get(acme(), 'acme/Order')).status).toBe(200);
    expect((await remove(acme(), 'acme/Order')).status).toBe(204);
    expect(await list(acme())).toEqual([]);
  });

  it('404: a tenant neither lists nor reads the schema of another', async () => {
    await put(acme(), 'acme/Order', order);
    await put(globex(), 'globex/Order', order);

    expect([await list(acme()), await list(globex())]).toEqual([['acme/Order'], ['globex/Order']]);
    expect(statusAndCode(await get(globex(), 'acme/Order'))).toEqual(missing);
  });

  it("200: every tenant lists, reads and uses the installation's schemas, and cannot change them", async () => {
    await put(acme(), 'own', order);
    await put(installation(), 'shared', order);

    expect(await list(acme())).toEqual(['shared', 'own']);
    expect((await get(acme(), 'shared')).status).toBe(200);
    expect((await topic(acme(), 'shared')).status).toBe(201);
    expect(statusAndCode(await put(acme(), 'shared', {}))).toEqual(forbidden);
    expect(statusAndCode(await remove(globex(), 'shared'))).toEqual(forbidden);
  });

  it('200: the default tenant writes schemas of the installation', async () => {
    expect(
      (await installation().post('/api/v1/schemas', { id: 's', schema: {} }, { 'X-Tenant-ID': 'house' })).status,
    ).toBe(204);

    expect(await list(globex())).toEqual(['s']);
  });

  it('204: callers for all tenants read, replace and remove every schema, and its owner stays', async () => {
    await put(acme(), 'acme/Order', order);

    expect(await list(installation())).toEqual(['acme/Order']);
    expect((await get(installation(), 'acme/Order')).status).toBe(200);
    expect((await put(installation(), 'acme/Order', { type: 'object' })).status).toBe(204);
    expect(statusAndCode(await get(globex(), 'acme/Order'))).toEqual(missing);
    expect((await put(acme(), 'acme/Order', order)).status).toBe(204);
    expect((await remove(installation(), 'acme/Order')).status).toBe(204);
    expect(statusAndCode(await get(acme(), 'acme/Order'))).toEqual(missing);
  });

  it('200: a schema without an owner belongs to the installation', async () => {
    await api.store.redis.hset('schema:old', 'document', JSON.stringify(order), 'alias', '', 'updated_at', '1');
    await api.store.redis.zadd('schema:index', 1, 'old');

    expect(await list(globex())).toEqual(['old']);
    expect((await get(globex(), 'old')).status).toBe(200);
    expect(statusAndCode(await put(globex(), 'old', {}))).toEqual(forbidden);
    expect((await put(installation(), 'old', {})).status).toBe(204);
  });

  it('204: an $id belongs to a tenant, and references resolve to the own schemas and those of the installation', async () => {
    await put(globex(), 'globex/Sku', { $id: 'shop:sku', not: {} });
    await put(installation(), 'Amount', { $id: 'shop:amount', type: 'number' });

    expect((await put(acme(), 'acme/Sku', { $id: 'shop:sku', type: 'string' })).status).toBe(204);
    const properties = { sku: { $ref: 'shop:sku' }, amount: { $ref: 'shop:amount' } };
    await put(acme(), 'acme/Order', { type: 'object', properties });
    await topic(acme(), 'acme/Order');

    expect((await submit({ sku: 'a', amount: 1 })).status).toBe(200);
    expect((await submit({ sku: 1, amount: 'a' })).body['violations']).toMatchObject([
      { path: '/amount' },
      { path: '/sku' },
    ]);
  });

  it('400: a reference to the $id of a schema of another tenant does not resolve', async () => {
    await put(globex(), 'globex/Sku', { $id: 'shop:sku', enum: ['secret-of-globex'] });
    await put(acme(), 'acme/Order', { properties: { sku: { $ref: 'shop:sku' } } });
    await topic(acme(), 'acme/Order');

    const answer = await submit({ sku: 'a' });

    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain('shop:sku, which is not registered');
  });

  it('400: a topic that names the schema of another tenant', async () => {
    await put(globex(), 'globex/Order', order);

    expect((await topic(acme(), 'globex/Order')).body).toMatchObject({
      status: 400,
      violations: [{ field: 'input_schema_id', message: 'no schema is registered as globex/Order' }],
    });
  });

  it("400: a topic of all tenants is not checked with a tenant's schema", async () => {
    const entry = { name: 'job.demo.order', pool: 'demo', input_schema_id: 'Order' };
    const data = { 'job.demo.order': entry };
    await installation().put('/api/v1/config', { scope: 'system', scope_id: 'topics', data });
    await put(acme(), 'Order', {});

    const answer = await submit({});

    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain('the input schema Order is not registered');
  });

  it('409: a schema of the installation that any tenant uses, and a tenant’s schema that it uses itself', async () => {
    await put(installation(), 'shared', order);
    await topic(acme(), 'shared');
    const entry = { name: 'job.demo.order', tenant_id: 'globex', pool: 'demo', input_schema_id: 'acme/Order' };
    const data = { 'tenant:globex:job.demo.order': entry };
    await installation().put('/api/v1/config', { scope: 'system', scope_id: 'topics', data });
    await put(acme(), 'acme/Order', order);

    expect((await remove(installation(), 'shared')).status).toBe(409);
    expect((await remove(acme(), 'acme/Order')).status).toBe(204);
  });
});
