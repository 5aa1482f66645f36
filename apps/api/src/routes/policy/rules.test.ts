import { bundleSignatureFault, type BundleRecord } from '@svc/policy';
import { useApi } from '../../api.testing';
import { bundleKeys } from '../../bundle-keys.testing';
import { statusAndCode } from '../../caller.testing';
import { ban, bundleCalls, storeBundles } from './policy.testing';

const outputRules = (...rules: string[]) => `output_rules:\n${rules.map((rule) => `  - {${rule}}\n`).join('')}`;
type Item = Record<string, unknown> & { id: string; source: Record<string, unknown> };
const items = (body: Record<string, unknown>) => body['items'] as Item[];
const own = (body: Record<string, unknown>) => items(body).filter(({ source }) => source['fragment_id'] !== 'base');

describe('GET /api/v1/policy/rules', () => {
  const api = useApi();
  const { put } = bundleCalls(api);
  const rules = async (query = '') => (await api.as('admin').get(`/api/v1/policy/rules${query}`)).body;

  it('200: rules of the file first, then of every bundle in effect, unchanged', async () => {
    await put('secops~b', { content: ban('b', 'job.b') });
    await put('secops~a', {
      content:
        'version: "7"\ntier: workflow\nselector: {workflow_id: w}\nrules:\n  - {id: a, decision: allow, reason: fine}\n',
    });
    await put('secops~off', { content: ban('off', 'job.c'), enabled: false });

    const listed = await rules();

    expect(items(listed)[0]?.source['fragment_id']).toBe('base');
    expect(own(listed)).toMatchObject([
      {
        id: 'a',
        decision: 'allow',
        reason: 'fine',
        tier: 'workflow',
        selector: { workflow_id: 'w' },
        enabled: true,
        source: {
          fragment_id: 'secops/a',
          tier: 'workflow',
          version: '7',
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      },
      { id: 'b', match: { topics: ['job.b'] }, tier: 'global', selector: {}, source: { fragment_id: 'secops/b' } },
    ]);
    expect(listed).not.toHaveProperty('errors');
    expect(own(await rules('?include_disabled=true')).map(({ id, enabled }) => [id, enabled])).toEqual([
      ['a', true], ['b', true], ['off', false],
    ]); // prettier-ignore
  });

  it('200: rules of a pack name the pack; invalid bundles are listed separately', async () => {
    await storeBundles(api, {
      'acme/limits': { content: ban('p', 'job.p'), version: '1.2', installed_at: 't' },
      'acme/bad': 'rules: [',
    });

    const listed = await rules();

    expect(own(listed)).toMatchObject([
      {
        id: 'p',
        source: {
          fragment_id: 'acme/limits',
          pack_id: 'acme',
          overlay_name: 'limits',
          version: '1.2',
          installed_at: 't',
        },
      },
    ]);
    expect(listed['errors']).toEqual([{ fragment_id: 'acme/bad', error: expect.stringMatching(/^line 1: /) }]);
  });
});

describe('output rules', () => {
  const api = useApi();
  const { put, get } = bundleCalls(api);
  const list = async (query = '?include_disabled=true', as = api.as('admin')) =>
    (await as.get(`/api/v1/policy/output/rules${query}`)).body;
  const toggle = (id: string, enabled: boolean, as = api.as('admin')) =>
    as.put(`/api/v1/policy/output/rules/${id}`, { enabled });
  const leaks =
    'id: leaks, severity: high, decision: deny, reason: no keys, match: {topics: [job.a], scanners: [secret], detectors: [pii], content_patterns: [abc, "d{3}"]}';

  it('200: are listed with their patterns', async () => {
    await put('secops~out', { content: outputRules(leaks, 'id: off, enabled: false, decision: deny') });

    expect(own(await list())).toMatchObject([
      {
        id: 'leaks',
        topics: ['job.a'],
        scanners: ['secret', 'pii'],
        patterns: ['abc', 'd{3}'],
        pattern_preview: 'abc, d{3}',
        decision: 'deny',
        severity: 'high',
        reason: 'no keys',
        enabled: true,
        trigger_count_24h: 0,
      },
      { id: 'off', enabled: false, description: '', severity: '' },
    ]);
    expect(own(await list('')).map(({ id }) => id)).toEqual(['leaks']);
  });

  it('200: one is disabled and enabled in its bundle, which is signed again', async () => {
    const bundle = { content: `# ours\n${outputRules(leaks, 'id: other, decision: deny')}` };
    await put('secops~out', bundle, {}, '', api.as('boss'));

    const { status, body } = await toggle('leaks', false);

    expect({ status, body }).toMatchObject({
      status: 200,
      body: { id: 'leaks', enabled: false, bundle_id: 'secops/out' },
    });
    expect(own(await list()).map(({ id, enabled }) => [id, enabled])).toEqual([
      ['leaks', false],
      ['other', true],
    ]);
    const record = (await get('secops~out')).body as unknown as BundleRecord;
    expect(record).toMatchObject({
      content: expect.stringMatching(/^# ours\n/),
      author: 'bob',
      updated_at: body['updated_at'],
    });
    expect(bundleSignatureFault(record, new Map([['TESTS', bundleKeys.publicKey]]))).toBeUndefined();
    await toggle('leaks', true);
    expect(own(await list()).map(({ enabled }) => enabled)).toEqual([true, true]);
    const audit = (await api.as('admin').get('/api/v1/policy/audit?type=output_rule&rule_id=leaks')).body;
    expect(audit).toMatchObject({
      total: 2,
      items: [{ action: 'edit', extra: { enabled: 'true' } }, { bundle_ids: ['secops/out'] }],
    });
  });

  it('200: of several bundles with a rule of that id, the one in effect is changed', async () => {
    await put('secops~a', { content: outputRules('id: x, decision: deny') });
    await put('secops~b', { content: outputRules('id: x, decision: deny') });
    await put('secops~c', { content: outputRules('id: x, decision: deny'), enabled: false });

    expect((await toggle('x', false)).body['bundle_id']).toBe('secops/b');
  });

  it('no acknowledged toggle of concurrent ones is lost', async () => {
    const ids = Array.from({ length: 6 }, (_, i) => `r${i}`);
    await put('secops~out', { content: outputRules(...ids.map((id) => `id: ${id}, decision: deny`)) });

    const answers = await Promise.all(ids.map((id) => toggle(id, false)));

    const off = ids.filter((_, i) => answers[i]?.status === 200);
    expect(off.length).toBeGreaterThan(0);
    expect(
      own(await list())
        .filter(({ enabled }) => !enabled)
        .map(({ id }) => id),
    ).toEqual(off);
    const lost = answers.filter(({ status }) => status !== 200).map(statusAndCode);
    expect(lost).toEqual(lost.map(() => ({ status: 409, code: 'POLICY_VERSION_CONFLICT' })));
  });

  it('409 for a rule of the policy file, 404 for an unknown one, 403 for admins of other tenants', async () => {
    await storeBundles(api, {});
    const [inFile] = items(await list());

    expect(statusAndCode(await toggle(String(inFile?.id), false))).toEqual({
      status: 409,
      code: 'output_rule_not_editable',
    });
    expect(statusAndCode(await toggle('nothing', false))).toEqual({ status: 404, code: 'output_rule_not_found' });
    expect(statusAndCode(await toggle('nothing', false, api.as('other')))).toEqual({
      status: 403,
      code: 'tenant_access_denied',
    });
  });

  it('400: a bundle that is invalid elsewhere', async () => {
    await storeBundles(api, {
      'secops/out': `${outputRules('id: x, decision: deny')}rules:\n  - {id: r, decision: perhaps}\n`,
    });

    expect(statusAndCode(await toggle('x', false))).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
  });
});

describe('GET /api/v1/policy/output/stats', () => {
  const api = useApi();
  const stats = async (query = '', as = api.as('admin')) => (await as.get(`/api/v1/policy/output/stats${query}`)).body;
  const nothing = { total_checks_24h: 0, quarantined_24h: 0, avg_latency_ms: 0, last_check_at: null };

  async function checked(state: 'SUCCEEDED' | 'OUTPUT_QUARANTINED', ms: number, agoUs = 0): Promise<string> {
    const checked_at = Date.now() * 1_000 - agoUs;
    const decision = state === 'SUCCEEDED' ? 'ALLOW' : 'QUARANTINE';
    const verdict = { decision, reason: 'r', rule_id: 'x', policy_snapshot: 's', findings: [], phase: 'sync' };
    const id = await api.given.job({ state });
    await api.store.redis.hset(
      `{s0}:job:${id}`,
      'output_safety',
      JSON.stringify({ ...verdict, checked_at, check_duration_ms: ms }),
    );
    return new Date(checked_at / 1_000).toISOString();
  }

  it('200: counts the checks of the caller’s tenant in the last 24 hours', async () => {
    expect(await stats()).toEqual(nothing);
    await checked('SUCCEEDED', 2);
    await checked('SUCCEEDED', 9, 90_000_000_000);
    const last = await checked('OUTPUT_QUARANTINED', 4);

    expect(await stats()).toEqual({ total_checks_24h: 2, quarantined_24h: 1, avg_latency_ms: 3, last_check_at: last });
    expect(await stats('', api.as('other'))).toEqual(nothing);
    expect(await stats('?limit=1')).toMatchObject({ total_checks_24h: 1 });
  });

  it('200: a rule has the time and number of its decisions', async () => {
    await bundleCalls(api).put('secops~out', {
      content: outputRules('id: x, decision: deny', 'id: y, decision: deny'),
    });
    await checked('OUTPUT_QUARANTINED', 1, 1_000_000);
    const last = await checked('OUTPUT_QUARANTINED', 1);

    const listed = own((await api.as('admin').get('/api/v1/policy/output/rules')).body);

    expect(listed).toMatchObject([
      { id: 'x', trigger_count_24h: 2, last_triggered: last },
      { id: 'y', trigger_count_24h: 0 },
    ]);
    expect(listed[1]).not.toHaveProperty('last_triggered');
  });

  it('200: withheld results are in the audit, with their findings', async () => {
    await checked('SUCCEEDED', 1);
    await checked('OUTPUT_QUARANTINED', 1);
    const audit = async (query: string, as = api.as('admin')) =>
      (await as.get(`/api/v1/policy/audit?type=output${query}`)).body;

    expect(await audit('')).toMatchObject({
      total: 1,
      items: [
        {
          action: 'output_quarantine',
          resource_type: 'output',
          rule_id: 'x',
          decision: 'QUARANTINE',
          reason: 'r',
          phase: 'sync',
          findings: [],
        },
      ],
    });
    expect(await audit('&rule_id=x')).toMatchObject({ total: 1 });
    expect(await audit('&rule_id=y')).toMatchObject({ total: 0 });
    expect(await audit('', api.as('other'))).toMatchObject({ total: 0 });
  });
});
