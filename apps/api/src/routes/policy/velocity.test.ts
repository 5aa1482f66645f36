import { bundleSignatureFault, type BundleRecord } from '@svc/policy';
import { eventually } from '@svc/testing';
import { useApi, type Api } from '../../api.testing';
import { bundleKeys } from '../../bundle-keys.testing';
import { statusAndCode } from '../../caller.testing';
import { ban, bundleCalls, storeBundles } from './policy.testing';

const path = '/api/v1/policy/velocity-rules';
const pace = {
  name: 'Echo pace', window: '5m', key: 'tenant:topic', threshold: 2, decision: 'deny', reason: 'too many',
  match: { topics: ['job.demo.echo'] },
}; // prettier-ignore

function velocity(api: Api) {
  const admin = () => api.as('admin');
  return {
    add: (body: object = pace, as = admin()) => as.post(path, body),
    change: (id: string, body: object, as = admin()) => as.put(`${path}/${id}`, body),
    remove: (id: string, as = admin()) => as.del(`${path}/${id}`),
    list: async () => (await admin().get(path)).body as { items: Record<string, unknown>[] } & Record<string, unknown>,
  };
}

describe('velocity rules', () => {
  const api = useApi();
  beforeEach(() => api.license('enterprise'));
  const { add, change, remove, list } = velocity(api);
  const { get, put, submit } = bundleCalls(api);

  it('201: a rule is its own signed bundle, in effect within a second', async () => {
    const { status, body } = await add({ ...pace, message: 'calm down' });

    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        ...pace,
        id: 'echo-pace',
        enabled: true,
        match: { topics: ['job.demo.echo'], tenants: [], risk_tags: [] },
        created_at: expect.stringMatching(/^20/),
      },
    });
    const record = (await get('velocity~echo-pace')).body as unknown as BundleRecord;
    expect(record).toMatchObject({
      version: '1',
      author: 'ann',
      message: 'calm down',
      content: expect.stringContaining('window_seconds: 300'),
    });
    expect(bundleSignatureFault(record, new Map([['TESTS', bundleKeys.publicKey]]))).toBeUndefined();
    await eventually(async () =>
      expect(statusAndCode(await submit('job.demo.echo'))).toEqual({ status: 403, code: 'policy_denied' }),
    );
  });

  it('200: are listed, last changed first', async () => {
    expect(await list()).toEqual({ items: [], count: 0, limit: -1, updated_at: null, upgrade_url: '' });
    await add({ ...pace, id: 'a' });
    await add({ ...pace, id: 'b', window: '24h', decision: 'throttle' });
    await change('a', { ...pace, threshold: 9, enabled: false });

    const listed = await list();

    expect(listed).toMatchObject({
      count: 2,
      limit: -1,
      items: [
        { id: 'a', threshold: 9, enabled: false, window: '5m' },
        { id: 'b', window: '24h', throttle_duration: '24h' },
      ],
    });
    expect(listed['updated_at']).toBe(listed.items[0]?.['updated_at']);
  });

  it('200: times that were not recorded are omitted', async () => {
    await add({ ...pace, id: 'a' });
    const key = 'cfg:system:policy';
    const document = JSON.parse((await api.store.redis.get(key)) ?? '') as {
      data: { bundles: Record<string, object> };
    };
    const record = { ...document.data.bundles['velocity/a'], created_at: undefined, updated_at: undefined };
    document.data.bundles['velocity/a'] = record;
    await api.store.redis.set(key, JSON.stringify(document));

    const listed = await list();

    expect(listed).toMatchObject({ count: 1, updated_at: null, items: [{ id: 'a' }] });
    expect(Object.keys(listed.items[0] ?? {})).not.toEqual(expect.arrayContaining([expect.stringMatching(/_at$/)]));
  });

  it('200: a change keeps enabled and the creation time', async () => {
    const made = (await add({ ...pace, id: 'a', enabled: false })).body;

    const { status, body } = await change('a', { ...pace, decision: 'throttle', throttle_duration: '45s' });

    expect({ status, body }).toMatchObject({
      status: 200,
      body: { enabled: false, created_at: made['created_at'], throttle_duration: '45s' },
    });
    expect((await change('a', { ...pace, enabled: true })).body).toMatchObject({ enabled: true });
  });

  it('204: a rule is deleted, and all changes are in the audit', async () => {
    await add({ ...pace, id: 'a' });
    await change('a', pace);

    expect((await remove('a')).status).toBe(204);

    expect((await list())['count']).toBe(0);
    const audit = (await api.as('admin').get('/api/v1/policy/audit?type=velocity_rule&rule_id=a')).body;
    expect(audit['items']).toMatchObject([
      { action: 'delete' },
      { action: 'edit', resource_name: 'Echo pace' },
      { action: 'create', bundle_ids: ['velocity/a'] },
    ]);
  });

  it.each([
    ['no name', { name: '' }, 'name'],
    ['a name that makes no id', { name: '!!!' }, 'id'],
    ['an id that is none', { id: '.a' }, 'id'],
    ['part of a second', { window: '1500ms' }, 'window'],
    ['more than a day', { window: '25h' }, 'window'],
    ['no duration', { window: 'soon' }, 'window'],
    ['a key of another grammar', { key: 'colour' }, 'key'],
    ['a threshold below one', { threshold: 0 }, 'threshold'],
    ['a decision that is none of these', { decision: 'allow_with_constraints' }, 'decision'],
    ['no reason', { reason: '' }, 'reason'],
    ['a bad pause', { decision: 'throttle', throttle_duration: 'a while' }, 'throttle_duration'],
    ['a bad glob', { match: { topics: ['job.[a'] } }, 'match'],
  ])('400 VELOCITY_RULE_INVALID: %s', async (_, wrong, field) => {
    const answer = await add({ ...pace, ...wrong });

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'VELOCITY_RULE_INVALID' });
    expect(answer.body['violations']).toMatchObject([{ field }]);
    expect((await list())['count']).toBe(0);
  });

  it('400 VELOCITY_RULE_INVALID: an id that differs from the path', async () => {
    await add({ ...pace, id: 'a' });

    expect(statusAndCode(await change('a', { ...pace, id: 'b' }))).toEqual({
      status: 400,
      code: 'VELOCITY_RULE_INVALID',
    });
  });

  it('409 VELOCITY_RULE_CONFLICT: an id that is in use', async () => {
    const conflict = { status: 409, code: 'VELOCITY_RULE_CONFLICT' };
    await put('secops~a', { content: ban('no-echo', 'job.x') });
    await add({ ...pace, id: 'a' });
    const inFile = (await api.as('admin').get('/api/v1/policy/rules')).body['items'] as { id: string }[];

    for (const id of ['a', 'no-echo', String(inFile[0]?.id)])
      expect(statusAndCode(await add({ ...pace, id }))).toEqual(conflict);
    const answers = await Promise.all(Array.from({ length: 6 }, () => add({ ...pace, id: 'new' })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status !== 201).every(({ status }) => status === 409)).toBe(true);
  });

  it('404 velocity_rule_not_found', async () => {
    const missing = { status: 404, code: 'velocity_rule_not_found' };

    expect([statusAndCode(await change('a', pace)), statusAndCode(await remove('a'))]).toEqual([missing, missing]);
  });

  it('403: admins of other tenants; a plan without velocity rules, or with no more of them', async () => {
    expect(statusAndCode(await add(pace, api.as('other')))).toEqual({ status: 403, code: 'tenant_access_denied' });
    api.license('team', { velocity_rules: true, velocity_rule_count: 20 });
    await storeBundles(api, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`velocity/v${i}`, 'rules: []'])));
    expect(await add()).toMatchObject({
      status: 403,
      body: { code: 'tier_limit_exceeded', limit: 'velocity_rule_count', current: 20, allowed: 20 },
    });
    expect((await list())['errors']).toHaveLength(20);

    api.license('community');
    const answers = [await add(), await change('v1', pace), await remove('v1'), await api.as('admin').get(path)];
    expect(answers.map(statusAndCode)).toEqual(answers.map(() => ({ status: 403, code: 'tier_limit_exceeded' })));
  });
});

describe('GET /api/v1/policy/velocity-rules/stats', () => {
  const api = useApi();
  beforeEach(() => api.license('enterprise'));
  const { add, remove } = velocity(api);
  const { submit } = bundleCalls(api);
  const stats = async (as = api.as('admin')) =>
    (await as.get(`${path}/stats`)).body as { items: Record<string, unknown>[] } & Record<string, unknown>;

  it('200: decisions and window usage of each rule, for the tenant of the jobs', async () => {
    const before = await api.kernel.listSnapshots();
    await add({ ...pace, id: 'a', key: 'topic', window: '24h' });
    await add({ ...pace, id: 'idle', match: { topics: ['job.demo.idle'] } });
    await eventually(async () => expect((await api.kernel.listSnapshots()).length).toBeGreaterThan(before.length));
    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(403));

    const { items, ...about } = await stats();

    const [echo, idle] = ['a', 'idle'].map((id) => items.find((item) => item['id'] === id) ?? {});
    expect(echo).toMatchObject({
      hit_count_24h: 1,
      hit_rate_24h: 1 / 24,
      current_window_count: 3,
      current_window_max: 3,
      active_buckets: 1,
      exceeded_buckets: 1,
    });
    expect(echo?.['last_triggered']).toMatch(/^20/);
    expect(echo?.['hourly_hits']).toEqual([...Array<number>(23).fill(0), 1]);
    expect(idle).toMatchObject({
      hit_count_24h: 0,
      active_buckets: 0,
      last_triggered: null,
      hourly_hits: Array<number>(24).fill(0),
    });
    expect(about).toMatchObject({ top_rules: [{ id: 'a' }, { id: 'idle' }] });
    expect((await stats(api.as('other'))).items).toMatchObject([
      { hit_count_24h: 0, active_buckets: 0 },
      { hit_count_24h: 0 },
    ]);
    const everywhere = (await stats(api.as('everywhere'))).items.find((item) => item['id'] === 'a');
    expect(everywhere).toMatchObject({ hit_count_24h: 1, active_buckets: 1 });
  });

  it('200: counts throttled submissions, for which no job exists', async () => {
    const before = await api.kernel.listSnapshots();
    await add({ ...pace, id: 'slow', decision: 'throttle', key: 'topic', window: '24h' });
    await eventually(async () => expect((await api.kernel.listSnapshots()).length).toBeGreaterThan(before.length));
    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(429));
    expect((await submit('job.demo.echo')).status).toBe(429);

    const [slow] = (await stats()).items;

    expect(slow).toMatchObject({ id: 'slow', hit_count_24h: 2, hit_rate_24h: 2 / 24 });
    expect((slow?.['hourly_hits'] as number[]).reduce((sum, hits) => sum + hits, 0)).toBe(2);
    expect(slow?.['last_triggered']).toMatch(/^20/);
    const [ofOthers] = (await stats(api.as('other'))).items;
    expect(ofOthers).toMatchObject({ hit_count_24h: 0, last_triggered: null });
    const [everywhere] = (await stats(api.as('everywhere'))).items;
    expect(everywhere).toMatchObject({ hit_count_24h: 2 });
  });

  it('200 without rules; 403 tier_limit_exceeded without the entitlement', async () => {
    await add({ ...pace, id: 'a' });
    await remove('a');
    expect(await stats()).toMatchObject({ items: [], top_rules: [] });

    api.license('community');
    expect(statusAndCode(await api.as('admin').get(`${path}/stats`))).toEqual({
      status: 403,
      code: 'tier_limit_exceeded',
    });
  });
});

describe('a gateway without a key to sign with', () => {
  const api = useApi({ env: { SVC_POLICY_SIGNING_KEY: '' } });

  it('503 POLICY_SIGNING_REQUIRED', async () => {
    api.license('enterprise');

    expect(statusAndCode(await velocity(api).add())).toEqual({ status: 503, code: 'POLICY_SIGNING_REQUIRED' });
  });
});
