import { policyPlace, readBundles } from '@svc/policy';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();

const steps = { stow: { topic: 'job.stow' } };
const rules = (id: string, rule: string, more = '') =>
  `version: '1'\ntier: workflow\nselector: {workflow_id: ${id}}\n${more}rules:\n  - ${rule}\n`;
const closed = (id: string) => rules(id, '{id: closed, match: {topics: [job.stow]}, decision: deny, reason: no more}');
const save = (id: string, policy_override?: string, who: 'admin' | 'other' = 'admin') =>
  api
    .as(who)
    .post('/api/v1/workflows', { id, name: id, steps, ...(policy_override !== undefined && { policy_override }) });
const bundles = async () => {
  const [document] = await api.store.config.documents([[policyPlace.scope, policyPlace.scope_id]]);
  return readBundles(document?.data).bundles;
};
const decision = async (id: string) => {
  const { body } = await api.as('admin').post(`/api/v1/workflows/${id}/dry-run`, {});
  return (body['steps'] as { decision: string; rule_id?: string }[])[0];
};

describe('the policy of a workflow', () => {
  beforeAll(() => api.policy("version: '1'\nrules:\n  - {id: all, match: {topics: ['job.*']}, decision: allow}\n"));

  it('applies to its jobs only, and changes and is deleted with it', async () => {
    await save('intake', closed('intake'));
    await save('outgo');

    await eventually(async () =>
      expect(await decision('intake')).toMatchObject({ decision: 'DENY', rule_id: 'closed' }),
    );
    expect(await decision('outgo')).toMatchObject({ decision: 'ALLOW', rule_id: 'all' });

    await save('intake', rules('intake', '{id: asked, decision: require_approval}'));
    await eventually(async () => expect(await decision('intake')).toMatchObject({ decision: 'REQUIRE_APPROVAL' }));
    await save('intake', '');
    await eventually(async () => expect(await decision('intake')).toMatchObject({ decision: 'ALLOW' }));
    expect([...(await bundles()).keys()]).toEqual([]);

    await save('intake', closed('intake'));
    expect((await api.as('admin').del('/api/v1/workflows/intake')).status).toBe(204);
    expect([...(await bundles()).keys()]).toEqual([]);
  });

  it.each(['admin', 'other'] as const)('cannot be selected by labels of a job: %s', async (who) => {
    await api.as('admin').post('/api/v1/workflows', {
      id: 'intake',
      name: 'intake',
      steps: { stow: { topic: 'job.default' } },
      policy_override: rules('intake', '{id: closed, match: {topics: [job.default]}, decision: deny}'),
    });
    await eventually(async () => expect(await decision('intake')).toMatchObject({ decision: 'DENY' }));
    const labels = { workflow_id: 'intake', run_id: 'any', step_id: 'stow', 'workflow.id': 'intake' };

    const { status, body } = await api.as(who).post('/api/v1/jobs', { prompt: 'x', topic: 'job.default', labels });

    expect(status).toBe(200);
    const job = await api.store.jobs.load(String(body['job_id']));
    expect(job?.safety).toMatchObject({ decision: 'ALLOW', rule_id: 'all' });
    expect((await api.as('admin').del('/api/v1/workflows/intake')).status).toBe(204);
  });

  it('is a signed bundle with the workflow’s id, and is kept when an update omits it', async () => {
    await save('a/b', closed('a/b'));
    const before = await bundles();
    await api.as('admin').post('/api/v1/workflows', { id: 'a/b', name: 'renamed', steps });

    expect([...before.keys()]).toEqual(['workflow/a%2Fb/policy']);
    expect(before.get('workflow/a%2Fb/policy')).toMatchObject({ enabled: true, _signature: { algorithm: 'ed25519' } });
    expect(await bundles()).toEqual(before);
    await api.as('admin').del('/api/v1/workflows/a%2Fb');
    const { body } = await api.as('admin').get('/api/v1/policy/audit');
    const entries = body['items'] as { action: string; resource_id: string }[];
    expect(entries.map(({ action, resource_id }) => [action, resource_id])).toEqual([
      ['delete', 'workflow/a%2Fb/policy'],
      ['edit', 'workflow/a%2Fb/policy'],
    ]);
  });

  it.each([
    [
      'another tier',
      closed('intake')
        .replace('tier: workflow\n', 'tier: global\n')
        .replace(/selector.*\n/, ''),
      'tier',
    ],
    ['another workflow', closed('outgo'), 'tier'],
    ['a rule for everybody', rules('intake', '{id: x, tier: global, decision: allow}'), 'wider than'],
    [
      'a rule for another workflow',
      rules('intake', '{id: x, tier: workflow, selector: {workflow_id: outgo}, decision: allow}'),
      'rules.0',
    ],
    [
      'lists of tenants',
      rules('intake', '{id: x, decision: allow}', 'tenants: {acme: {allow_topics: [job.a]}}\n'),
      'tenants',
    ],
    [
      'output rules',
      rules(
        'intake',
        '{id: x, decision: allow}',
        'output_rules: [{id: o, severity: low, match: {}, decision: allow}]\n',
      ),
      'output_rules',
    ],
    [
      'a fail mode',
      rules('intake', '{id: x, decision: allow}', 'output_policy: {enabled: true, fail_mode: open}\n'),
      'output_policy',
    ],
    [
      'thresholds',
      rules('intake', '{id: x, decision: allow}', 'require_human: {downgrade_when_prompt_only: true}\n'),
      'require_human',
    ],
    ['a default tenant', rules('intake', '{id: x, decision: allow}', 'default_tenant: acme\n'), 'default_tenant'],
    ['an unknown key', rules('intake', '{id: x, decision: allow, colour: red}'), 'line 5'],
  ])('400: %s, which would affect other workflows; nothing is written', async (_, text, where) => {
    const answer = await save('intake', text);

    expect(statusAndCode(answer)).toMatchObject({ status: 400 });
    expect(JSON.stringify(answer.body)).toContain(where);
    expect((await bundles()).size).toBe(0);
    expect((await api.as('admin').get('/api/v1/workflows/intake')).status).toBe(404);
  });

  it('after concurrent writes, the policy in effect is that of the stored workflow', async () => {
    const texts = Array.from({ length: 8 }, (_, i) => rules('intake', `{id: r${i}, decision: deny}`));

    const answers = await Promise.all(texts.map((text) => save('intake', text)));

    expect(answers.some(({ status }) => status === 201)).toBe(true);
    for (const { status } of answers) expect([201, 409]).toContain(status);
    const { body } = await api.as('admin').get('/api/v1/workflows/intake');
    const stored = /id: (r\d)/.exec(String(body['policy_override']))?.[1];
    expect((await bundles()).get('workflow/intake/policy')?.content).toContain(`id: ${stored}`);
  });

  it('cannot be changed by another tenant', async () => {
    await save('intake', closed('intake'));
    const before = await bundles();

    expect(statusAndCode(await save('intake', rules('intake', '{id: open, decision: allow}'), 'other'))).toMatchObject({
      status: 403,
    });
    expect((await api.as('other').del('/api/v1/workflows/intake')).status).not.toBe(204);

    expect(await bundles()).toEqual(before);
  });
});

describe('a workflow’s policy under a policy that denies by default', () => {
  const base = `version: '1'
default_decision: deny
rules:
  - {id: load, match: {topics: [job.load]}, decision: allow}
  - {id: weigh, match: {topics: [job.weigh]}, decision: require_approval}
  - {id: sail, match: {topics: [job.sail]}, decision: throttle, throttle_duration: 1s}
`;
  let saved = 0;
  /** Denies job.load by an additional rule, which shows that this text is in effect. */
  const marker = () => `seen-${saved}`;
  const permissive = (more = '') =>
    `version: '1'\ntier: workflow\nselector: {workflow_id: intake}\n${more}rules:\n` +
    '  - {id: MARKER, match: {topics: [job.load]}, decision: deny}\n' +
    "  - {id: open, match: {topics: ['job.*']}, decision: allow}\n";
  const steps = Object.fromEntries(
    ['stow', 'load', 'weigh', 'sail'].map((name) => [name, { topic: `job.${name}` }] as const),
  );
  const refused = { stow: 'DENY', weigh: 'REQUIRE_APPROVAL', sail: 'THROTTLE' };
  const dryRun = async () => {
    const { body } = await api.as('other').post('/api/v1/workflows/intake/dry-run', {});
    return body['steps'] as { step_id: string; decision: string; rule_id?: string }[];
  };
  const decisions = async () =>
    Object.fromEntries((await dryRun()).map(({ step_id, decision }) => [step_id, decision]));
  const saveAll = async (text: string) => {
    saved += 1;
    // The store is emptied before each test; kernels detect changes by revisions, so these must not repeat.
    const unwritten = { ...policyPlace, data: { bundles: {} }, revision: 100 * saved, updated_at: '', meta: {} };
    expect(await api.store.config.replace(unwritten, 0)).toBe(true);
    const policy_override = text.replace('MARKER', marker());
    const body = { id: 'intake', name: 'intake', steps, policy_override };
    expect((await api.as('other').post('/api/v1/workflows', body)).status).toBe(201);
    await eventually(async () =>
      expect((await dryRun()).map(({ rule_id }) => rule_id)).toEqual(expect.arrayContaining([marker(), 'sail'])),
    );
  };
  const configure = (overrides: string | null) =>
    api.as('admin').post('/api/v1/config', { policy: overrides === null ? null : { overrides } });

  beforeAll(() => api.policy(base));

  it.each([
    ['a rule that permits every topic', permissive()],
    ['and a default that permits', permissive('default_decision: allow\n')],
    ['a default alone', permissive('default_decision: allow\n').replace(/.*id: open.*\n/, '')],
    ['a rule that holds for approval', permissive().replace('decision: allow', 'decision: require_approval')],
  ])('relaxes no deny, hold or throttle of the installation: %s', async (_, text) => {
    await saveAll(text);

    expect(await decisions()).toEqual({ ...refused, load: 'DENY' });
  });

  it('allows requests without a matching installation rule only while policy.overrides is extend', async () => {
    await saveAll(permissive());
    expect(await decisions()).toMatchObject({ stow: 'DENY', load: 'DENY' });

    expect((await configure('extend')).status).toBe(204);
    await eventually(async () => expect((await decisions())['stow']).toBe('ALLOW'));
    expect(await decisions()).toMatchObject({ load: 'DENY', weigh: 'REQUIRE_APPROVAL', sail: 'THROTTLE' });

    expect((await configure('tighten')).status).toBe(204);
    await eventually(async () => expect((await decisions())['stow']).toBe('DENY'));
    await configure('extend');
    await eventually(async () => expect((await decisions())['stow']).toBe('ALLOW'));
    expect((await configure(null)).status).toBe(204);
    await eventually(async () => expect((await decisions())['stow']).toBe('DENY'));
  });

  it('400: a tenant cannot set policy.overrides, and an unknown value is rejected', async () => {
    const own = await api
      .as('other')
      .post('/api/v1/config', { scope: 'org', data: { policy: { overrides: 'extend' } } });

    expect(statusAndCode(own)).toEqual({ status: 400, code: 'CONFIG_SCHEMA_VIOLATION' });
    expect(statusAndCode(await configure('loosen'))).toEqual({ status: 400, code: 'CONFIG_SCHEMA_VIOLATION' });
  });
});
