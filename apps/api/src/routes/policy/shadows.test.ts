import { useApi } from '../../api.testing';
import { statusAndCode, type Calls } from '../../caller.testing';
import { ban, bundleCalls } from './policy.testing';

const candidate = ban('tighter', 'job.demo.echo');

describe('/api/v1/policy/shadows/:bundle_id', () => {
  const api = useApi();
  const { put: putBundle, get: getBundle, remove: removeBundle } = bundleCalls(api);
  const path = (id: string, query = '') => `/api/v1/policy/shadows/${id}${query}`;
  const put = (body: object = { content: candidate }, id = 'secops~a', as: Calls = api.as('admin')) =>
    as.put(path(id), body);
  const get = (id = 'secops~a', as: Calls = api.as('admin')) => as.get(path(id));
  const remove = (id = 'secops~a', as: Calls = api.as('admin')) => as.del(path(id));
  const missing = { status: 404, code: 'shadow_policy_not_found' };

  beforeEach(async () => {
    await putBundle('secops~a', { content: ban('live', 'job.other') });
  });

  it('200: it is stored separately from the bundle, announced, and changes no decision', async () => {
    const answer = await put({ content: candidate, metadata: { ticket: 'OPS-7' } });

    expect(answer).toMatchObject({
      status: 200,
      body: {
        shadow_bundle_id: expect.stringMatching(/^shadow-[0-9a-f]{12}$/),
        bundle_id: 'secops/a',
        tenant_id: 'acme',
        created_by: 'ann',
        content: candidate,
        metadata: { ticket: 'OPS-7' },
      },
    });
    expect(await get()).toMatchObject({ status: 200, body: answer.body });
    expect((await getBundle('secops~a')).body['content']).toBe(ban('live', 'job.other'));
    expect(await api.packets()).toContain('sys.config.changed');
    expect((await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic: 'job.demo.echo' })).status).toBe(200);
  });

  it('200: another write creates a new shadow and keeps the time of the first write', async () => {
    const { body: first } = await put();

    const { body: second } = await put({ content: ban('other', 'job.b') }, 'secops~a', api.as('boss'));

    expect(second).toMatchObject({ created_at: first['created_at'], created_by: 'bob', metadata: {} });
    expect(second['shadow_bundle_id']).not.toBe(first['shadow_bundle_id']);
    expect(String(second['activated_at']) >= String(first['activated_at'])).toBe(true);
  });

  it('200: the query takes precedence over the path', async () => {
    const { body } = await api.as('admin').put(path('nothing', '?bundle_id=secops/a'), { content: candidate });

    expect(body['bundle_id']).toBe('secops/a');
    expect((await api.as('admin').get(path('secops%2Fa'))).status).toBe(200);
  });

  it('the bundle shows the shadow of the caller’s tenant only', async () => {
    const { body } = await put();
    const { content: _text, metadata: _notes, ...head } = body;

    expect((await getBundle('secops~a')).body['shadow']).toEqual(head);
    expect((await api.as('other').get('/api/v1/policy/bundles/secops~a')).body).not.toHaveProperty('shadow');
  });

  it('each tenant has its own shadow, invisible to others', async () => {
    await put();
    expect(statusAndCode(await get('secops~a', api.as('other')))).toEqual(missing);
    expect(statusAndCode(await remove('secops~a', api.as('other')))).toEqual(missing);

    const { body } = await put({ content: ban('theirs', 'job.c') }, 'secops~a', api.as('other'));

    expect(body).toMatchObject({ tenant_id: 'globex', created_by: 'gus' });
    expect((await get()).body['content']).toBe(candidate);
  });

  it('204, then 404: it is removed, also from the bundle', async () => {
    await put();

    expect((await remove()).status).toBe(204);

    expect(statusAndCode(await get())).toEqual(missing);
    expect(statusAndCode(await remove())).toEqual(missing);
    expect((await getBundle('secops~a')).body).not.toHaveProperty('shadow');
  });

  it('the policy audit of the tenant records its writes and removals', async () => {
    const { body } = await put();
    await remove();

    const { items } = (await api.as('admin').get('/api/v1/policy/audit?type=policy')).body as { items: object[] };
    const shadow = { resource_type: 'policy', resource_id: 'secops/a', actor_id: 'ann', bundle_ids: ['secops/a'] };
    expect(items.slice(0, 2)).toMatchObject([
      { ...shadow, action: 'shadow_deactivate', extra: { shadow_bundle_id: body['shadow_bundle_id'] } },
      { ...shadow, action: 'shadow_activate', extra: { shadow_bundle_id: body['shadow_bundle_id'] } },
    ]);
  });

  it('404: an unknown bundle; a removed bundle leaves its shadow', async () => {
    expect(statusAndCode(await put(undefined, 'secops~none'))).toEqual({ status: 404, code: 'bundle_not_found' });
    await put();
    await removeBundle('secops~a');

    expect((await get()).status).toBe(200);
  });

  it('400 POLICY_VALIDATION_FAILED: with the line', async () => {
    const answer = await put({ content: 'rules: []\nrulez: []' });

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
    expect(answer.body['violations']).toMatchObject([{ in: 'body', field: 'content', line: 2 }]);
    expect(statusAndCode(await get())).toEqual(missing);
  });

  it('400: invalid or too many notes', async () => {
    const tooMany = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, 'v']));

    for (const metadata of [{ a: 1 }, { a: { b: 'c' } }, tooMany, { a: 'x'.repeat(1_025) }]) {
      expect(statusAndCode(await put({ content: candidate, metadata }))).toEqual({ status: 400, code: 'invalid_body' });
    }
  });

  it('413: the shadows of a tenant are limited to 4 MiB in total, without a replaced one', async () => {
    const large = (bytes: number) => `# ${'x'.repeat(bytes)}\n${candidate}`;
    for (const name of ['b', 'c']) await putBundle(`secops~${name}`, { content: ban(name, 'job.x') });
    const half = 2_000_000;
    expect((await put({ content: large(half) })).status).toBe(200);
    expect((await put({ content: large(half) }, 'secops~b')).status).toBe(200);

    expect(statusAndCode(await put({ content: large(half) }, 'secops~c'))).toEqual({
      status: 413,
      code: 'request_too_large',
    });
    expect((await put({ content: large(half + 1) })).status).toBe(200);
    expect((await put({ content: large(half) }, 'secops~c', api.as('other'))).status).toBe(200);
  });

  it('409 POLICY_SHADOW_CONFLICT: one of two concurrent writes', async () => {
    const { shadows } = api.store;
    const write = shadows.write.bind(shadows);
    jest.spyOn(shadows, 'write').mockImplementationOnce(async (...args) => {
      await put({ content: ban('faster', 'job.d') });
      return write(...args);
    });

    expect(statusAndCode(await put())).toEqual({ status: 409, code: 'POLICY_SHADOW_CONFLICT' });
    expect((await get()).body['content']).toBe(ban('faster', 'job.d'));
  });

  it('403: only admins write and read them', async () => {
    for (const who of ['operator', 'user'] as const) {
      const calls = [
        put(undefined, 'secops~a', api.as(who)),
        get('secops~a', api.as(who)),
        remove('secops~a', api.as(who)),
      ];
      for (const answer of await Promise.all(calls)) expect(answer.status).toBe(403);
    }
  });
});
