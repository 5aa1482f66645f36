import { ask, buildPolicy, verdict } from '../policy.testing';

const rules = (...lines: string[]) => `rules:\n${lines.map((line) => `  - {${line}}`).join('\n')}`;

describe('mergePolicies', () => {
  it('a later rule with the same id replaces the earlier one', () => {
    const policy = buildPolicy({
      base: rules('id: a, decision: allow', 'id: b, decision: require_approval'),
      'x/y': rules('id: a, decision: deny'),
    });

    expect(policy.rules.map(({ rule, source }) => [rule.id, rule.decision, source])).toEqual([
      ['a', 'deny', 'x/y'],
      ['b', 'require_approval', 'base'],
    ]);
    expect(verdict(policy, {})).toEqual(['DENY', 'a']);
  });

  it('a rule with its id replaces neither an invariant nor a rule of another tier', () => {
    const policy = buildPolicy({
      base: rules('id: global, decision: deny, match: {topics: [job.b]}'),
      'job/j/policy': `tier: job\nselector: {job_id: j}\n${rules('id: global, decision: allow')}`,
      'secops/invariants': rules('id: no, decision: deny, match: {topics: [job.a]}'),
      'zeta/pack': rules('id: no, decision: allow'),
    });

    expect(verdict(policy, { topic: 'job.a', job_id: 'j' })).toEqual(['DENY', 'no']);
    expect(verdict(policy, { topic: 'job.b', job_id: 'j' })).toEqual(['DENY', 'global']);
  });

  it('joins tenant lists without duplicates; the smaller limit and the first default win', () => {
    const policy = buildPolicy({
      base: 'default_tenant: acme\ntenants: {Acme: {allow_topics: [job.a], max_concurrent_jobs: 9, mcp: {allow: [x]}}}',
      'x/y':
        'default_decision: allow\ndefault_tenant: other\ntenants: {acme: {allow_topics: [job.a, job.b], max_concurrent_jobs: 3, mcp: {allow_tools: [y], gateway_enabled: false}}}',
      'x/z': 'default_decision: deny',
    });

    expect(policy.tenants).toEqual({
      acme: {
        allow_topics: ['job.a', 'job.b'],
        max_concurrent_jobs: 3,
        mcp: { allow_tools: ['x', 'y'], gateway_enabled: false },
      },
    });
    expect(policy.defaultTenant).toBe('acme');
    expect(verdict(policy, { topic: 'job.b', tenant: 'other' })).toEqual(['ALLOW', '']);
  });

  it('builds rules from the topic lists of a document without rules, denied topics first', () => {
    const policy = buildPolicy('tenants: {acme: {allow_topics: ["job.a*", job.b], deny_topics: [job.ab]}}');

    expect(policy.rules.map(({ rule }) => rule.id)).toEqual([
      'legacy:acme:deny:0',
      'legacy:acme:allow:0',
      'legacy:acme:allow:1',
    ]);
    const asked = ['job.ab', 'job.a', 'job.b', 'job.c'].map((topic) => verdict(policy, { topic, tenant: 'acme' }));
    expect(asked).toEqual([
      ['DENY', 'legacy:acme:deny:0'],
      ['ALLOW', 'legacy:acme:allow:0'],
      ['ALLOW', 'legacy:acme:allow:1'],
      ['DENY', ''],
    ]);
    expect(verdict(policy, { topic: 'job.a', tenant: 'other' })).toEqual(['DENY', '']);
  });

  it('names a snapshot by its content and bundles, not by the order of keys', () => {
    const one = buildPolicy(
      'version: "7"\nrules: [{id: a, decision: deny, match: {topics: [x], tenants: [t]}}]',
    ).snapshot;
    const reordered = buildPolicy(
      'rules: [{match: {tenants: [t], topics: [x]}, decision: block, id: a}]\nversion: "7"',
    ).snapshot;
    const more = buildPolicy({ base: 'version: "7"', 'x/y': rules('id: a, decision: deny') }).snapshot;

    expect(one).toMatch(/^7:[0-9a-f]{64}$/);
    expect(reordered).toBe(one);
    expect(more).not.toBe(one);
    expect(buildPolicy('tier: global').snapshot).toMatch(/^[0-9a-f]{64}$/);
    expect(ask(buildPolicy('tier: global'), {}).policy_snapshot).toBe(buildPolicy('tier: global').snapshot);
  });

  it('gives the same document the same snapshot in every version of the software: snapshots are stored and published', () => {
    const policy = buildPolicy({
      base: 'version: "7"\ndefault_decision: deny\ntenants: {"10": {allow_topics: [job.a]}, "9": {deny_topics: ["job.é*"]}}',
      'x/y': rules('id: a, decision: deny, match: {topics: [job.b], labels: {"10": x, "9": "y", "-": z}}'),
    });

    expect(policy.snapshot).toBe('7:eadc5841243e68f68d031cfed6f9440533e4dbcbc9322610e3bf4406405899e6');
  });

  it('leaves out velocity rules over the licensed number, in merge order', () => {
    const pace = (id: string) =>
      `id: ${id}, decision: deny, velocity: {max_requests: 1, window_seconds: 1, key: tenant}`;
    const policy = buildPolicy(
      { base: rules(pace('a'), 'id: ok, decision: allow'), 'x/y': rules(pace('b')) },
      { maxVelocityRules: 1 },
    );

    expect(policy.ignoredVelocityRules).toEqual(['b']);
    expect(policy.rules.map(({ rule }) => rule.id)).toEqual(['a', 'ok']);
  });
});
