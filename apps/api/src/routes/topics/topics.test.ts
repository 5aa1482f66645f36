import { limits } from '@svc/contract';
import { changeDocument } from '@svc/settings';
import { eventually } from '@svc/testing';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const register = (body: object, as = api.as('admin')) => as.post('/api/v1/topics', body);
const list = async (as = api.as('viewer')) => (await as.get('/api/v1/topics')).body['items'] as { name: string }[];
const submit = (topic: string, as = api.as('user')) => as.post('/api/v1/jobs', { prompt: 'x', topic });
const tea = { name: 'job.demo.tea', pool: 'demo' };

describe('POST /api/v1/topics', () => {
  it('201: a topic is registered in addition to those of the pools file; 200: its registration is replaced', async () => {
    const first = await register({ ...tea, requires: ['kettle ', 'cup', 'kettle'], risk_tags: ['hot'], capability: 'brew' });
    const second = await register({ ...tea, status: 'deprecated' });

    expect(first).toMatchObject({
      status: 201,
      body: { ...tea, requires: ['cup', 'kettle'], risk_tags: ['hot'], status: 'active', capability: 'brew', active_worker_count: 0 },
    });
    expect(first.body).not.toHaveProperty('tenant_id');
    expect(second).toMatchObject({ status: 200, body: { ...tea, requires: [], status: 'deprecated' } });
    expect((await list()).map(({ name }) => name)).toEqual(['job.default', 'job.demo.*', 'job.demo.render', 'job.demo.tea']);
  });

  it('a tenant’s own entry hides the global one for that tenant only', async () => {
    await register({ name: 'job.default', pool: 'spare', status: 'disabled' });
    await register({ ...tea, name: 'job.own' });

    expect(statusAndCode(await submit('job.default'))).toEqual({ status: 400, code: 'topic_disabled' });
    expect((await submit('job.default', api.as('other'))).status).toBe(200);
    expect(statusAndCode(await submit('job.own', api.as('other')))).toEqual({ status: 400, code: 'unknown_topic' });
    expect(await list(api.as('other'))).toContainEqual(expect.objectContaining({ name: 'job.default', pool: 'demo' }));
  });

  it('400: the maximum number of topics per tenant, which leaves room for others', async () => {
    const own = Array.from({ length: limits.tenantTopics }, (_, i) => [`tenant:globex:job.t${i}`, { pool: 'demo' }]);
    await changeDocument(api.ctx.config, { scope: 'system', scope_id: 'topics' }, () => ({
      data: Object.fromEntries(own) as Record<string, unknown>,
    }));

    expect((await register(tea, api.as('other'))).body).toMatchObject({
      status: 400,
      violations: [{ field: 'name', message: `this tenant already has ${limits.tenantTopics} topics: remove one` }],
    });
    expect((await register({ ...tea, name: 'job.t0' }, api.as('other'))).status).toBe(200);
    expect((await register(tea)).status).toBe(201);
  });

  it('of concurrent writes none is lost, and those that lose every race get an error', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `job.t${i}`);

    const answers = await Promise.all(names.map((name) => register({ ...tea, name })));

    const kept = names.filter((_, i) => answers[i]?.status === 201);
    const lost = answers.filter(({ status }) => status !== 201);
    expect(kept.length).toBeGreaterThan(0);
    expect((await list()).map(({ name }) => name)).toEqual(expect.arrayContaining(kept));
    expect(lost.map(statusAndCode)).toEqual(lost.map(() => ({ status: 409, code: 'CONFIG_VERSION_CONFLICT' })));
  });

  it('notifies every replica, without the content', async () => {
    await register(tea);

    await eventually(async () => expect(await api.packets()).toEqual(['sys.config.changed']));
    const [notice] = await api.published();
    expect(Buffer.from(notice?.bytes ?? []).toString()).toContain('topics');
    expect(Buffer.from(notice?.bytes ?? []).toString()).not.toContain('job.demo.tea');
  });

  it.each([
    ['no pool while it takes jobs', { name: 'job.a' }, 'pool'],
    ['a name that is no topic', { ...tea, name: 'tea' }, 'name'],
    ['an unknown status', { ...tea, status: 'closed' }, 'status'],
    ['too many words', { ...tea, requires: Array.from({ length: 101 }, (_, i) => `${i}`) }, 'requires'],
    ['a word too long', { ...tea, risk_tags: ['x'.repeat(129)] }, 'risk_tags'],
    ['an unregistered input schema', { ...tea, input_schema_id: 'acme/In' }, 'input_schema_id'],
    ['an unregistered output schema', { ...tea, output_schema_id: 'acme/Out' }, 'output_schema_id'],
  ])('400: %s', async (_, body, field) => {
    const answer = await register(body);

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'TOPIC_SCHEMA_VIOLATION' });
    expect(answer.body['violations']).toMatchObject([{ field }]);
  });

  it('403: another tenant’s name; 404: an unknown pool', async () => {
    expect(statusAndCode(await register({ ...tea, tenant_id: 'globex' }))).toEqual({ status: 403, code: 'tenant_access_denied' });
    expect(statusAndCode(await register({ ...tea, pool: 'teapot' }))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
    expect((await register({ name: 'job.off', status: 'disabled' })).status).toBe(201);
  });

  describe('with a pool that was just added to the configuration', () => {
    // The pools file takes precedence over a document that was created from another file.
    const _poolsFileHash = createHash('sha256').update(readFileSync(api.config('pools.yaml'))).digest('hex');
    const data = { pools: { topics: {}, pools: { kettle: {} } }, _poolsFileHash };
    const kettle = { name: 'job.kettle', pool: 'kettle' };

    it('201: on the replica that handled the write', async () => {
      expect(statusAndCode(await register(kettle))).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
      expect((await api.as('admin').put('/api/v1/config', { scope: 'system', data })).status).toBe(204);

      expect((await api.as('admin').get('/api/v1/pools/kettle')).status).toBe(200);
      expect((await register(kettle)).status).toBe(201);
    });

    it('201: on another replica, before the change notice arrives', async () => {
      await changeDocument(api.ctx.config, { scope: 'system', scope_id: 'default' }, () => ({ data }));

      expect((await register(kettle)).status).toBe(201);
    });
  });

  it('403: operators can read and not write topics', async () => {
    expect((await register(tea, api.as('operator'))).status).toBe(403);
    expect((await api.as('operator').get('/api/v1/topics')).status).toBe(200);
  });
}); // prettier-ignore

describe('DELETE /api/v1/topics/:name', () => {
  const remove = (name: string, as = api.as('admin')) => as.del(`/api/v1/topics/${name}`);

  it('204: the tenant’s entry is deleted and the global one is visible again', async () => {
    await register({ name: 'job.default', pool: 'spare', status: 'disabled' });

    expect((await remove('job.default')).status).toBe(204);

    expect((await submit('job.default')).status).toBe(200);
    expect(statusAndCode(await remove('job.default'))).toEqual({ status: 404, code: 'TOPIC_NOT_FOUND' });
  });

  it('404: an entry of another tenant, or a global one', async () => {
    await register(tea);

    expect(statusAndCode(await remove('job.demo.tea', api.as('other')))).toEqual({
      status: 404,
      code: 'TOPIC_NOT_FOUND',
    });
    expect(statusAndCode(await remove('job.demo.render'))).toEqual({ status: 404, code: 'TOPIC_NOT_FOUND' });
    expect((await submit('job.demo.tea')).status).toBe(200);
  });
});

describe('a job’s topic', () => {
  it('is looked up in memory: submissions read the registry once', async () => {
    await submit('job.default');
    await api.store.redis.config('RESETSTAT');

    for (let i = 0; i < 5; i++) expect((await submit('job.default')).status).toBe(200);

    // Documents are polled, regardless of the number of jobs.
    const reads = /cmdstat_mget:calls=(\d+)/.exec(await api.store.redis.info('commandstats'))?.[1] ?? 0;
    expect(Number(reads)).toBeLessThan(5);
  });

  it('400 unknown_topic: disabled topics are not suggested', async () => {
    await register({ name: 'job.demo.render', status: 'disabled' });

    expect((await submit('job.none')).body['registered_topics']).toEqual(['job.default', 'job.demo.*']);
  });

  it('400 topic_disabled: also if only a pattern matches', async () => {
    await register({ name: 'job.demo.*', status: 'disabled' });

    expect((await submit('job.demo.x')).body).toMatchObject({ code: 'topic_disabled', error_code: 'topic_disabled' });
    expect((await submit('job.demo.render')).status).toBe(200);
  });

  it('200: a deprecated topic still accepts jobs', async () => {
    await register({ ...tea, status: 'deprecated' });

    expect((await submit('job.demo.tea')).status).toBe(200);
  });

  it('changes of another replica take effect after its notice', async () => {
    await submit('job.default');
    const { ctx } = api;
    await changeDocument(ctx.config, { scope: 'system', scope_id: 'topics' }, (stored) => ({
      data: { ...stored?.data, 'job.demo.new.er': { pool: 'demo' } },
    }));

    expect((await submit('job.demo.new.er')).status).toBe(400);
    ctx.submit.config.changed();
    expect((await submit('job.demo.new.er')).status).toBe(200);
  });
});
