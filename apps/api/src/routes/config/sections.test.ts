import { bundleSignatureFault, type BundleRecord } from '@svc/policy';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { bundleKeys } from '../../bundle-keys.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const write = (body: object) => api.as('admin').post('/api/v1/config', body);
const read = async (query = '') => (await api.as('admin').get(`/api/v1/config${query}`)).body;
const invalid = { status: 400, code: 'CONFIG_SCHEMA_VIOLATION' };

describe('known sections', () => {
  const wrong = { retry: { max_retries: 'three', max_backoff: '1m' }, slo: { error_rate_budget: 2 }, mine: { a: 1 } };
  const paths = ['retry.max_retries', 'slo.error_rate_budget'];

  it('400: all violations are listed by path, and nothing is written', async () => {
    const flat = await write(wrong);
    const wrapped = await write({ scope: 'step', scope_id: 'weigh', data: wrong });

    expect([statusAndCode(flat), statusAndCode(wrapped)]).toEqual([invalid, invalid]);
    expect(flat.body['violations']).toMatchObject([
      { in: 'body', field: 'retry', path: paths[0], message: expect.stringContaining('must be a number') },
      { in: 'body', field: 'slo', path: paths[1] },
    ]);
    expect(wrapped.body['violations']).toMatchObject(paths.map((path) => ({ field: 'data', path: `data.${path}` })));
    expect(await read()).toEqual({});
  });

  it.each(['org', 'team', 'workflow', 'step'])('400: in scope %s as in system', async (scope) => {
    const place = { scope, ...(scope !== 'org' && { scope_id: 'x' }) };

    expect(statusAndCode(await write({ ...place, data: { safety: { denied_topics: 'job.a' } } }))).toEqual(invalid);
    expect((await write({ ...place, data: { safety: { denied_topics: ['job.a'], mine: 7 } } })).status).toBe(204);
  });

  it('204: unknown sections are accepted, also in documents that are not settings', async () => {
    expect((await write({ experiment: 7, SVC_OIDC_GROUPS_CLAIM: 'groups' })).status).toBe(204);
    expect((await write({ scope: 'system', scope_id: 'packs', data: { retry: 'a pack of that name' } })).status).toBe(204);
  });

  it('400: pools and timeouts of system/default are validated like the files', async () => {
    const pools = (await write({ pools: { topics: { 'job.a': 'Crane' } } })).body;
    const timeouts = (await write({ timeouts: { reconciler: { scan_interval_seconds: 0 } } })).body;

    expect(pools).toMatchObject({ code: invalid.code, violations: [{ field: 'pools', path: 'pools.topics.job.a' }] });
    expect(timeouts).toMatchObject({
      ...{ code: invalid.code, violations: [{ path: 'timeouts.reconciler.scan_interval_seconds' }] },
    });
    const table = { topics: { 'job.a': 'crane' }, pools: { crane: { requires: ['hook'] } } };
    expect((await write({ pools: table, timeouts: { topics: {} } })).status).toBe(204);
    expect(await read()).toEqual({ pools: table, timeouts: { topics: {} } });
  });

  it('400: an invalid entry of system/topics', async () => {
    const topics = (data: object) => write({ scope: 'system', scope_id: 'topics', data });

    expect((await topics({ 'job.a': { pool: 'demo' }, 'job.b': { status: 'ajar' } })).body).toMatchObject({
      ...{ code: invalid.code, violations: [{ path: 'data.job.b' }] },
    });
    expect((await topics({ 'job.a': { pool: 'demo' }, 'job.b': null })).status).toBe(204);
  });
}); // prettier-ignore

describe('sections in documents where they have no effect', () => {
  const overrides = { topic_overrides: [{ topic_pattern: 'job.a', enabled: false }] };
  const places = [
    ['system/default', {}],
    ['an org', { scope: 'org' }],
    ['a team', { scope: 'team', scope_id: 'dock' }],
    ['a workflow', { scope: 'workflow', scope_id: 'intake' }],
  ] as const;

  it.each(places)('400: a section of policy documents in %s', async (_, place) => {
    const data = { output_policy: overrides, retry: { max_retries: 1 } };

    const { status, body } = await write('scope' in place ? { ...place, data } : data);

    const path = 'scope' in place ? 'data.output_policy' : 'output_policy';
    expect({ status, code: body['code'] }).toEqual(invalid);
    expect(body['violations']).toEqual([
      expect.objectContaining({ in: 'body', path, message: expect.stringContaining('/api/v1/policy/bundles') }),
    ]);
  });

  it.each(['pools', 'timeouts', 'policy', 'boundary_hardening', '_poolsFileHash'])(
    '400: %s outside of system/default',
    async (name) => {
      const answer = await write({ scope: 'org', data: { [name]: {} } });

      expect(statusAndCode(answer)).toEqual(invalid);
      expect(answer.body['violations']).toMatchObject([
        { path: `data.${name}`, message: 'is read from system/default only: write it there' },
      ]);
    },
  );

  it('400: a mode of worker_attestation that does not exist', async () => {
    const answer = await write({ boundary_hardening: { worker_attestation: 'strict' } });

    expect(statusAndCode(answer)).toEqual(invalid);
    expect(answer.body['violations']).toMatchObject([{ path: 'boundary_hardening.worker_attestation' }]);
  });

  it('400: other sections in system/policy, and bundles in other documents', async () => {
    const inPolicy = await write({ scope: 'system', scope_id: 'policy', data: { output_policy: overrides } });
    const inOrg = await write({ scope: 'org', data: { bundles: {} } });

    expect([statusAndCode(inPolicy), statusAndCode(inOrg)]).toEqual([invalid, invalid]);
    expect(inPolicy.body['violations']).toMatchObject([{ path: 'data.output_policy' }]);
    expect(inOrg.body['violations']).toMatchObject([
      { path: 'data.bundles', message: 'is read from system/policy only: write it there' },
    ]);
  });

  it('204: null removes sections that an older version stored', async () => {
    expect((await write({ scope: 'org', data: { pools: null, rules: null } })).status).toBe(204);
    expect((await write({ scope: 'system', scope_id: 'policy', data: { rules: null } })).status).toBe(204);
  });
});

describe('policy bundles in system/policy', () => {
  const bundles = (bundles: unknown) => write({ scope: 'system', scope_id: 'policy', data: { bundles } });
  const content = 'tenants:\n  acme: {deny_topics: [job.demo.echo]}\n';

  const stored = async () => (await read('?scope_id=policy'))['bundles'] as Record<string, BundleRecord>;
  const trusted = new Map([[bundleKeys.id.toUpperCase(), bundleKeys.publicKey]]);

  it('204: are validated and signed like single bundle writes, and take effect', async () => {
    const sent = {
      'secops/a': { content: `${content}default_tenant:\n`, enabled: true, author: 'ann', _signature: {} },
    };
    expect((await bundles(sent)).status).toBe(204);

    const { 'secops/a': record } = await stored();
    expect(record).toMatchObject({
      content: expect.not.stringContaining('default_tenant'),
      enabled: true,
      author: 'ann',
    });
    expect(record && bundleSignatureFault(record, trusted)).toBeUndefined();
    await eventually(async () =>
      expect((await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic: 'job.demo.echo' })).status).toBe(403),
    );
  });

  it('204: are recorded in the policy audit', async () => {
    await bundles({ 'secops/a': { content }, 'secops/b': { content } });

    const { body } = await api.as('admin').get('/api/v1/policy/audit');
    expect(body['items']).toMatchObject([
      { action: 'edit', resource_id: 'system/policy', bundle_ids: ['secops/a', 'secops/b'], actor_id: 'ann' },
    ]);
  });

  it('204: a signed bundle can be written back unchanged', async () => {
    await bundles({ 'secops/a': { content, enabled: false } });
    const before = await stored();

    expect((await bundles(before)).status).toBe(204);
    expect(await stored()).toEqual(before);
  });

  it('403: more than the plan allows, unless there were as many before', async () => {
    const some = (count: number) =>
      bundles(
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`secops/${i}`, { content, enabled: false }])),
      );
    api.license('enterprise', { max_policy_bundles: 2 });
    expect((await some(2)).status).toBe(204);

    expect((await some(3)).body).toMatchObject({
      ...{ status: 403, code: 'tier_limit_exceeded', limit: 'max_policy_bundles', current: 2, allowed: 2 },
    });
    api.license('enterprise', { max_policy_bundles: 1 });
    expect((await some(2)).status).toBe(204);
  });

  it('400: each problem of each text is reported with its line', async () => {
    const broken = 'version: "1"\nrules:\n  - id: a\n    decision: perhaps\n';

    const { status, body } = await bundles({ 'secops/good': { content }, 'secops/bad': { content: broken } });

    expect({ status, code: body['code'] }).toEqual(invalid);
    expect(body['violations']).toEqual([
      {
        in: 'body',
        field: 'data',
        path: 'data.bundles.secops/bad.content',
        message: expect.stringMatching(/^secops\/bad:4:15 rules\[0\]\.decision: "perhaps" is not one of/),
        line: 4,
        column: 15,
      },
    ]);
    expect(statusAndCode(await api.as('admin').get('/api/v1/config?scope_id=policy')).status).toBe(404);
  });

  it.each([
    ['a list', [], 'data.bundles'],
    ['a text', 'rules: []', 'data.bundles'],
    ['a bare text for a bundle', { 'secops/a': content }, 'data.bundles.secops/a'],
    ['a bundle without its text', { 'secops/a': { enabled: true } }, 'data.bundles.secops/a'],
  ])('400: %s', async (_, value, path) => {
    const { status, body } = await bundles(value);

    expect({ status, code: body['code'] }).toEqual(invalid);
    expect(body['violations']).toMatchObject([{ path }]);
  });

  it('204: null removes all bundles', async () => {
    await bundles({ 'secops/a': { content } });

    expect((await bundles(null)).status).toBe(204);
    expect(await read('?scope_id=policy')).toEqual({});
  });
});

describe('policy bundles that must be signed, without a key', () => {
  const api = useApi({ env: { SVC_POLICY_SIGNING_KEY: '', SAFETY_POLICY_MAX_BYTES: '50000' } });

  it('400: an invalid text', async () => {
    const data = { bundles: { 'secops/a': { content: `# ${'x'.repeat(50_000)}\nrules: []\n` } } };
    const answer = await api.as('admin').post('/api/v1/config', { scope: 'system', scope_id: 'policy', data });

    expect(statusAndCode(answer)).toEqual(invalid);
    expect(answer.body['violations']).toMatchObject([{ path: 'data.bundles.secops/a.content' }]);
  });

  it('503: are not written', async () => {
    const data = { bundles: { 'secops/a': { content: 'rules: []' } } };
    const answer = await api.as('admin').post('/api/v1/config', { scope: 'system', scope_id: 'policy', data });

    expect(statusAndCode(answer)).toEqual({ status: 503, code: 'POLICY_SIGNING_REQUIRED' });
  });
});
