import { changeDocument, readDocument } from '@svc/settings';
import { limits } from '@svc/contract';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const place = { scope: 'system', scope_id: 'default' } as const;
const send = (method: 'get' | 'put' | 'patch' | 'post' | 'delete', path: string, body?: object, as = api.as('admin')) =>
  as.send(method, `/api/v1/pools/${path}`, body && JSON.stringify(body));
const put = (path: string, body?: object, as = api.as('admin')) => send('put', path, body, as);
const patch = (path: string, body: object) => send('patch', path, body);
const drain = (name: string, body?: object) => send('post', `${name}/drain`, body);
const remove = (path: string) => send('delete', path);
const get = async (name: string) => (await send('get', name)).body;
const stored = async () =>
  ((await readDocument(api, place))?.data['pools'] ?? {}) as {
    topics: Record<string, string[]>;
    pools: Record<string, object>;
  };
/** Of the pools of the test's file, those that get no jobs. */
const closed = async () => {
  const open = await api.store.redis.smembers(keys.openPools());
  return ['demo', 'gpu', 'spare'].filter((name) => !open.includes(name));
};
const invalid = { status: 400, code: 'POOL_INVALID_CONFIG' };

describe('PUT /api/v1/pools/:name', () => {
  it('201: a pool is created active, in addition to those of the pools file, and notifies every replica', async () => {
    const created = await put('scales', { requires: ['scale ', 'hook', 'scale'], description: 'dockside' });
    const bare = await put('bare');

    const scales = { name: 'scales', status: 'active', requires: ['hook', 'scale'], description: 'dockside' };
    expect(created).toMatchObject({ status: 201, body: scales });
    expect(bare).toMatchObject({
      status: 201,
      body: { name: 'bare', status: 'active', requires: [], description: '' },
    });
    expect(await get('scales')).toMatchObject({ ...scales, topics: [], workers: [], queued_jobs: 0 });
    expect(Object.keys((await stored()).pools).sort()).toEqual(['bare', 'demo', 'gpu', 'scales', 'spare']);
    await eventually(async () => expect(await api.packets()).toEqual(['sys.config.changed', 'sys.config.changed']));
  });

  it('keeps the hash of the pools file, so that a scheduler that starts does not replace the pools', async () => {
    await put('scales');

    const { pools: hash } = api.ctx.pools.fleet.hashes();
    expect((await readDocument(api, place))?.data['_poolsFileHash']).toBe(hash);
  });

  it('409: a name that is taken, also by the pools file', async () => {
    expect(statusAndCode(await put('demo'))).toEqual({ status: 409, code: 'POOL_NAME_CONFLICT' });
  });

  it.each(['ab', 'Upper', 'a--b', '-ab', 'ab-', 'constructor!', 'x'.repeat(64), 'a.b'])(
    '400: the name %s',
    async (name) => {
      expect(statusAndCode(await put(name))).toEqual(invalid);
    },
  );

  it.each([
    ['a blank capability', { requires: [' '] }, 'requires'],
    ['too many capabilities', { requires: Array.from({ length: 101 }, (_, i) => `${i}`) }, 'requires'],
    ['a capability too long', { requires: ['x'.repeat(129)] }, 'requires'],
    ['a description too long', { description: 'x'.repeat(1_025) }, 'description'],
  ])('400: %s', async (_, body, field) => {
    const answer = await put('scales', body);

    expect(statusAndCode(answer)).toEqual(invalid);
    expect(answer.body['violations']).toMatchObject([{ field }]);
  });

  it('400: pools that do not fit into the document; it may still shrink', async () => {
    const description = 'x'.repeat(1_000);
    const many = Array.from({ length: 300 }, (_, i) => [`pool-${i}`, { description }] as const);
    await changeDocument(api.ctx.config, place, () => ({
      data: { pools: { topics: {}, pools: Object.fromEntries(many) } },
    }));
    await api.ctx.pools.fleet.reload();

    expect(statusAndCode(await put('one-more'))).toEqual(invalid);
    expect((await remove('pool-0')).status).toBe(204);
    expect(JSON.stringify((await readDocument(api, place))?.data).length).toBeGreaterThan(limits.configBytes.default);
  });

  it('409: of concurrent writes none is lost, and those that lose every race get an error', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `pool-${i}`);

    const answers = await Promise.all(names.map((name) => put(name)));

    const kept = names.filter((_, i) => answers[i]?.status === 201);
    const lost = answers.filter(({ status }) => status !== 201);
    expect(kept.length).toBeGreaterThan(0);
    expect(Object.keys((await stored()).pools)).toEqual(expect.arrayContaining(kept));
    expect(lost.map(statusAndCode)).toEqual(lost.map(() => ({ status: 409, code: 'POOL_VERSION_CONFLICT' })));
  });
});

describe('PATCH /api/v1/pools/:name', () => {
  it('200: only the given fields change', async () => {
    await put('scales', { requires: ['scale'], description: 'old' });

    expect(await patch('scales', { description: 'new' })).toMatchObject({
      status: 200,
      body: { requires: ['scale'], description: 'new' },
    });
    expect(await patch('scales', { requires: [] })).toMatchObject({
      status: 200,
      body: { requires: [], description: 'new' },
    });
    expect(await patch('scales', {})).toMatchObject({ status: 200, body: { name: 'scales', status: 'active' } });
  });

  it('200: what is already so is not written again', async () => {
    await put('scales', { requires: ['scale'] });
    const before = await api.store.config.revision('system', 'default');

    await patch('scales', {});
    await patch('scales', { status: 'active', requires: ['scale', ' scale'] });

    expect(await api.store.config.revision('system', 'default')).toBe(before);
  });

  it('200: a pool is deactivated and activated, in every dispatching script at once', async () => {
    expect((await patch('demo', { status: 'inactive' })).body).toMatchObject({ status: 'inactive' });
    expect(await closed()).toEqual(['demo']);

    expect((await patch('demo', { status: 'active' })).body).toMatchObject({ status: 'active' });
    expect(await closed()).toEqual([]);
  });

  it('200: activating a draining pool ends the drain', async () => {
    await drain('demo');

    await patch('demo', { status: 'active' });

    const pool = await get('demo');
    expect(pool).toMatchObject({ status: 'active' });
    expect(pool).not.toHaveProperty('drain_started_at');
  });

  it('400: draining, which only the drain starts; 404: an unknown pool', async () => {
    expect(statusAndCode(await patch('demo', { status: 'draining' }))).toEqual(invalid);
    expect(statusAndCode(await patch('no-such-pool', {}))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
  });
});

describe('POST /api/v1/pools/:name/drain', () => {
  it('200: the pool drains, and is closed in the same write', async () => {
    const { status, body } = await drain('demo', { timeout_seconds: 60 });

    expect({ status, body }).toEqual({
      status: 200,
      body: { name: 'demo', status: 'draining', drain_started_at: expect.any(String), drain_timeout_seconds: 60 },
    });
    expect(await get('demo')).toMatchObject({
      status: 'draining',
      drain_started_at: body['drain_started_at'],
      drain_timeout_seconds: 60,
    });
    expect(await closed()).toEqual(['demo']);
  });

  it.each([[{}], [{ timeout_seconds: 0 }], [{ timeout_seconds: -1 }], [undefined]])(
    '200: 300 s for %j',
    async (body) => {
      expect((await drain('demo', body)).body).toMatchObject({ drain_timeout_seconds: 300 });
    },
  );

  it('400: a pool that is draining or inactive, and a timeout above an hour; 404: an unknown pool', async () => {
    expect(statusAndCode(await drain('demo', { timeout_seconds: 3_601 }))).toEqual(invalid);
    await drain('demo');
    await patch('gpu', { status: 'inactive' });

    expect(statusAndCode(await drain('demo'))).toEqual(invalid);
    expect(statusAndCode(await drain('gpu'))).toEqual(invalid);
    expect(statusAndCode(await drain('no-such-pool'))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
  });
});

describe('DELETE /api/v1/pools/:name', () => {
  it('400: topics are mapped to it; 204 with force: also the mappings, and a topic without pools', async () => {
    expect(statusAndCode(await remove('demo'))).toEqual(invalid);
    expect(await stored()).toEqual({});

    expect((await remove('demo?force=true')).status).toBe(204);

    expect(await closed()).toEqual(['demo']);
    expect(statusAndCode(await send('get', 'demo'))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
    expect(Object.values((await stored()).topics).flat()).not.toContain('demo');
  });

  it('204: an inactive pool without topics; 404: the second time', async () => {
    await put('scales');
    await patch('scales', { status: 'inactive' });

    expect((await remove('scales')).status).toBe(204);
    expect(statusAndCode(await remove('scales'))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
    expect(await closed()).toEqual([]);
  });

  it('409: a draining pool, also with force, with the open jobs of its topics', async () => {
    await api.given.job({ state: 'RUNNING', topic: 'job.default' });
    await api.given.job({ state: 'SUCCEEDED', topic: 'job.default' });
    await drain('demo');

    const answer = await remove('demo?force=true');

    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'POOL_IN_USE', pool: 'demo', pool_status: 'draining', queued_jobs: 1, agent_ids: [] },
    });
  });

  it('409: agents name it, until they no longer do; 204 with force', async () => {
    api.license('enterprise');
    for (const pool of ['scales', 'cranes']) await put(pool);
    const agents = '/api/v1/agents';
    const agent = { name: 'a', owner: 'uma', risk_tier: 'low', allowed_pools: ['scales', 'cranes', '\ud800'] };
    const [first, second] = await Promise.all(
      [1, 2].map(async () => (await api.as('admin').post(agents, agent)).body['id']),
    );

    const body = { code: 'POOL_IN_USE', pool_status: 'active', agent_ids: [first, second].sort() };
    expect(await remove('scales')).toMatchObject({ status: 409, body });
    await api.as('admin').put(`${agents}/${String(first)}`, { allowed_pools: ['cranes'] });
    await api.as('admin').del(`${agents}/${String(second)}`);

    expect((await remove('scales')).status).toBe(204);
    expect(await remove('cranes')).toMatchObject({ status: 409, body: { agent_ids: [first] } });
    expect((await remove('cranes?force=true')).status).toBe(204);
  });
});

describe('PUT and DELETE /api/v1/pools/:name/topics/:topic', () => {
  it('204: a topic is mapped after its other pools, and twice is once', async () => {
    expect((await put('spare/topics/job.scales.*')).status).toBe(204);
    expect((await put('gpu/topics/job.scales.*')).status).toBe(204);
    expect((await put('spare/topics/job.scales.*')).status).toBe(204);

    expect((await stored()).topics['job.scales.*']).toEqual(['spare', 'gpu']);
    expect(await get('gpu')).toMatchObject({ topics: expect.arrayContaining(['job.scales.*']) });
  });

  it('204: a topic is removed from a pool, and from the table with its last pool', async () => {
    await put('spare/topics/job.scales');
    await put('gpu/topics/job.scales');

    expect((await remove('spare/topics/job.scales')).status).toBe(204);
    expect((await stored()).topics['job.scales']).toEqual(['gpu']);
    expect((await remove('gpu/topics/job.scales')).status).toBe(204);
    expect((await stored()).topics).not.toHaveProperty(['job.scales']);
  });

  it.each(['job', 'tea', 'job.a..b', 'job.a>', 'job.a b', 'job.a.x*y', 'job.*', '%2e%2e'])(
    '400: the topic %s',
    async (topic) => {
      expect(statusAndCode(await put(`demo/topics/${encodeURIComponent(topic)}`))).toEqual(invalid);
    },
  );

  it('404: an unknown pool, and a topic that is not mapped to it', async () => {
    expect(statusAndCode(await put('no-such-pool/topics/job.a'))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
    expect(statusAndCode(await remove('no-such-pool/topics/job.a'))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
    expect(statusAndCode(await remove('demo/topics/constructor'))).toEqual({ status: 404, code: 'TOPIC_NOT_FOUND' });
  });
});

describe('the pools', () => {
  it('403: are not changed by admins of other tenants, who read them', async () => {
    const as = api.as('other');
    const denied = { status: 403, code: 'tenant_access_denied' };

    expect(statusAndCode(await put('scales', {}, as))).toEqual(denied);
    expect(statusAndCode(await send('patch', 'demo', {}, as))).toEqual(denied);
    expect(statusAndCode(await send('delete', 'demo?force=true', undefined, as))).toEqual(denied);
    expect(statusAndCode(await send('post', 'demo/drain', {}, as))).toEqual(denied);
    expect(statusAndCode(await send('put', 'demo/topics/job.a', undefined, as))).toEqual(denied);
    expect(statusAndCode(await send('delete', 'demo/topics/job.default', undefined, as))).toEqual(denied);
    expect((await send('get', 'demo', undefined, as)).status).toBe(200);
    expect(statusAndCode(await put('scales', {}, api.as('operator')))).toMatchObject({ status: 403 });
    expect(await stored()).toEqual({});
  });

  it('show the jobs that wait for each of them', async () => {
    await put('spare/topics/job.default');
    await api.policy("version: '1'\ndefault_decision: allow\n");
    await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic: 'job.default' });
    await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic: 'job.default', labels: { preferred_pool: 'demo' } });

    const { body } = await api.as('admin').get('/api/v1/pools');
    const queued = (body['items'] as { name: string; queued_jobs: number }[]).map(({ name, queued_jobs }) => [name, queued_jobs]);

    expect(queued).toEqual([['demo', 2], ['gpu', 0], ['spare', 1]]);
    expect(await get('demo')).toMatchObject({ queued_jobs: 2 });
  });
}); // prettier-ignore

describe('DELETE /api/v1/topics/:name', () => {
  const register = (name: string, as = api.as('admin')) => as.post('/api/v1/topics', { name, pool: 'demo' });
  const unregister = (name: string, as = api.as('admin')) => as.send('delete', `/api/v1/topics/${name}`);

  it('204: also removes the mapping that no other entry uses', async () => {
    await register('job.tea');
    await register('job.default');
    await put('demo/topics/job.tea');

    expect((await unregister('job.tea')).status).toBe(204);
    expect((await unregister('job.default')).status).toBe(204);

    const { topics } = await stored();
    expect(topics).not.toHaveProperty(['job.tea']);
    expect(topics).toHaveProperty(['job.default']);
  });

  it('204: by another tenant leaves the mapping, which serves all tenants', async () => {
    await put('demo/topics/job.tea');
    await register('job.tea', api.as('other'));

    expect((await unregister('job.tea', api.as('other'))).status).toBe(204);

    expect((await stored()).topics).toHaveProperty(['job.tea']);
  });
});
