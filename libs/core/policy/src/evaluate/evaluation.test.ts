import { mergePolicies } from '../compile/merge-policies';
import { ask, below, parseDocument, buildPolicy, verdict } from '../policy.testing';
import { decide } from './decide';

const rules = (...lines: string[]) => `rules:\n${lines.map((line) => `  - {${line}}`).join('\n')}`;
const forJob = (text: string) => `tier: job\nselector: {job_id: J1}\n${text}`;
const forWorkflow = (text: string) => `tier: workflow\nselector: {workflow_id: w}\n${text}`;
const limited = (ms: number, tools: string) =>
  `constraints: {budgets: {max_runtime_ms: ${ms}}, toolchain: {allowed_tools: [${tools}]}}`;

describe('before any rule', () => {
  it('denies without a policy, and denies topics without the prefix job.', () => {
    expect(decide(undefined, { topic: 'job.a' }, below)).toMatchObject({ decision: 'DENY', policy_snapshot: '' });
    const allowing = buildPolicy('default_decision: allow');
    expect(['', 'a', 'jobs.a', ' job.a'].map((topic) => verdict(allowing, { topic })[0])).toEqual(
      Array(4).fill('DENY'),
    );
    expect(verdict(allowing, {})).toEqual(['ALLOW', '']);
    expect(verdict(mergePolicies([]), {})).toEqual(['DENY', '']);
  });

  it('takes the tenant of the request, of its meta, of the policy, or `default`', () => {
    const policy = buildPolicy(`default_tenant: d\n${rules('id: r, decision: allow, match: {tenants: [d]}')}`);

    expect(verdict(policy, {})[0]).toBe('ALLOW');
    expect(verdict(policy, { meta: { tenant_id: 'm' } })[0]).toBe('DENY');
    expect(verdict(policy, { tenant: 'd', meta: { tenant_id: 'm' } })[0]).toBe('ALLOW');
  });

  it('turns any internal error into a denial, and reports it to the caller separately', () => {
    const errors: unknown[] = [];
    const request = { topic: 'job.a', get labels(): Record<string, string> { throw new Error('lost'); } }; // prettier-ignore

    const onError = (error: unknown) => errors.push(error);
    const decision = decide(buildPolicy('default_decision: allow'), request, below, { onError });

    expect(decision).toMatchObject({ decision: 'DENY', reason: 'policy evaluation failed', rule_id: '' });
    expect(errors).toEqual([new Error('lost')]);
  });
});

describe('the record of a decision', () => {
  const more =
    'reason: because, remediations: [{id: x, add_labels: {a: b}}], throttle_duration: 1m30s, constraints: {budgets: {max_retries: 0}}';
  const record = (decision: string) =>
    ask(buildPolicy(rules(`id: r, decision: ${decision}, ${more}`)), { job_id: 'j' });
  const remediations = [{ id: 'x', add_labels: { a: 'b' } }];
  const constraints = { budgets: { max_retries: 0 } };
  const same = { reason: 'because', rule_id: 'r', policy_snapshot: expect.any(String) };

  it.each([
    ['allow', { decision: 'ALLOW_WITH_CONSTRAINTS', remediations: [], approval_required: false, constraints }],
    [
      'allow_with_constraints',
      { decision: 'ALLOW_WITH_CONSTRAINTS', remediations: [], approval_required: false, constraints },
    ],
    ['deny', { decision: 'DENY', remediations, approval_required: false }],
    ['throttle', { decision: 'THROTTLE', remediations, approval_required: false, throttle_duration_ms: 90_000 }],
    [
      'require_approval',
      { decision: 'REQUIRE_APPROVAL', remediations, approval_required: true, approval_ref: 'j', constraints },
    ],
  ])('%s has exactly these fields', (decision, expected) => {
    expect(record(decision)).toEqual({ ...same, ...expected });
  });

  it('an allow with constraints that limit nothing is an allow', () => {
    const policy = buildPolicy(
      rules('id: r, decision: allow, constraints: {sandbox: {isolated: false, fs_read_only: []}}'),
    );

    expect(ask(policy, {})).toMatchObject({ decision: 'ALLOW', reason: 'matched rule r' });
    expect(ask(policy, {})).not.toHaveProperty('constraints');
  });
});

describe('the order of rules', () => {
  it('the first match wins', () => {
    const policy = buildPolicy(
      rules('id: no, decision: deny, match: {topics: [job.b]}', 'id: a, decision: allow', 'id: b, decision: deny'),
    );

    expect(verdict(policy, {})).toEqual(['ALLOW', 'a']);
    expect(verdict(policy, { topic: 'job.b' })).toEqual(['DENY', 'no']);
  });

  it('invariants deny before all other rules and allow after them', () => {
    const policy = buildPolicy({
      base: rules(
        'id: first, decision: deny, match: {topics: [job.b]}',
        'id: broad, decision: allow, match: {topics: ["job.[ab]"]}',
      ),
      'secops/invariants': rules('id: open, decision: allow', 'id: ban, decision: deny, match: {topics: [job.a]}'),
    });

    expect(verdict(policy, { topic: 'job.a' })).toEqual(['DENY', 'ban']);
    expect(verdict(policy, { topic: 'job.b' })).toEqual(['DENY', 'first']);
    expect(verdict(policy, { topic: 'job.c' })).toEqual(['ALLOW', 'open']);
  });

  it('narrow rules apply only to their job or workflow, by ids set by the server', () => {
    const policy = buildPolicy(
      {
        'job/J1/policy': forJob(rules('id: j, decision: allow')),
        'workflow/w/policy': forWorkflow(rules('id: w, decision: allow_with_constraints')),
      },
      { overrides: 'extend' },
    );

    expect(verdict(policy, { job_id: 'J1', workflow_id: 'w' })).toEqual(['ALLOW', 'j']);
    expect(verdict(policy, { job_id: 'j1', workflow_id: 'W' })).toEqual(['DENY', '']);
    expect(verdict(policy, { job_id: 'j2', workflow_id: 'w' })).toEqual(['ALLOW_WITH_CONSTRAINTS', 'w']);
    expect(verdict(policy, { server_labels: { 'edge.session_id': 'J1' } })).toEqual(['ALLOW', 'j']);
    expect(verdict(policy, { server_labels: { 'policy.attachment_id': 'job/J1/policy' } })).toEqual(['ALLOW', 'j']);
    expect(verdict(policy, { job_id: 'J1', server_labels: { 'policy.attachment_id': 'x' } })).toEqual(['DENY', '']);
    expect(verdict(policy, { labels: { job_id: 'J1', 'workflow.id': 'w' } })).toEqual(['DENY', '']);
  });

  it.each([
    ['allow', 'deny', ['DENY', 'g']],
    ['deny', 'allow', ['DENY', 'n']],
    ['require_approval', 'allow', ['REQUIRE_APPROVAL', 'n']],
    ['throttle, throttle_duration: 1s', 'require_approval', ['THROTTLE', 'n']],
    ['allow', 'allow', ['ALLOW', 'n']],
  ])('a narrow %s with a global %s: the stricter wins', (narrow, global, expected) => {
    const policy = buildPolicy({
      base: rules(`id: g, decision: ${global}`),
      n: forJob(rules(`id: n, decision: ${narrow}`)),
    });

    expect(verdict(policy, { job_id: 'J1' })).toEqual(expected);
  });

  it('a narrow permission cannot loosen the limits of the global one', () => {
    const policy = buildPolicy({
      base: rules(`id: g, decision: allow, ${limited(1_000, 'a, b')}`),
      n: forJob(rules(`id: n, decision: allow, ${limited(9_000, 'b, c')}`)),
    });

    expect(ask(policy, { job_id: 'J1' })).toMatchObject({
      rule_id: 'n',
      constraints: { budgets: { max_runtime_ms: 1_000 }, toolchain: { allowed_tools: ['b'] } },
    });
  });

  it('the default comes from the job, else the workflow, else the global policy, else it is deny', () => {
    const policy = buildPolicy({
      base: 'default_decision: allow',
      w: forWorkflow('default_decision: deny'),
      j: forJob(rules('id: r, decision: deny, match: {topics: [job.x]}')),
    });

    expect(verdict(policy, {})[0]).toBe('ALLOW');
    expect(verdict(policy, { workflow_id: 'w' })[0]).toBe('DENY');
    // The job's document has no default, so the next one applies.
    expect(verdict(policy, { job_id: 'J1' })[0]).toBe('ALLOW');
  });

  it('edge and mcp requests are permitted only by rules for them, and denied by any rule', () => {
    const policy = buildPolicy(
      rules(
        'id: ban, decision: deny, match: {tenants: [bad]}',
        'id: broad, decision: allow, match: {topics: ["job.*"]}',
        'id: edge, decision: allow, match: {topics: [job.edge.action]}',
        'id: tool, decision: allow, match: {mcp: {allow_tools: [read]}}',
      ),
    );
    const labels = { 'mcp.tool': 'read' };

    expect(verdict(policy, {})).toEqual(['ALLOW', 'broad']);
    expect(verdict(policy, { labels })).toEqual(['ALLOW', 'tool']);
    expect(verdict(policy, { topic: 'job.edge.action' })).toEqual(['ALLOW', 'edge']);
    expect(verdict(policy, { topic: 'job.edge.action', labels, tenant: 'bad' })).toEqual(['DENY', 'ban']);
  });
});

describe('lists that apply regardless of the rules', () => {
  const policy = buildPolicy(
    `tenants: {t: {deny_topics: [job.no], mcp: {deny: [drop]}}, u: {allow_topics: [job.a]}}\n${rules(
      'id: person, decision: require_approval, match: {topics: [job.person]}',
      'id: mcp, decision: allow, match: {mcp: {}}',
      'id: r, decision: allow',
    )}`,
  );

  it('a tenant’s topics and tools', () => {
    expect(verdict(policy, { tenant: 't' })[0]).toBe('ALLOW');
    expect(verdict(policy, { tenant: 't', topic: 'job.no' })).toEqual(['DENY', '']);
    expect(verdict(policy, { tenant: 'u', topic: 'job.person' })).toEqual(['DENY', '']);
    expect(verdict(policy, { tenant: 't', labels: { 'mcp.tool': 'DROP' } })[0]).toBe('DENY');
    expect(verdict(policy, { tenant: 't', labels: { 'mcp.tool': 'read' } })[0]).toBe('ALLOW');
  });

  it('the configuration’s, and then its hash is part of the snapshot', () => {
    const asked = (safety: object, topic = 'job.a') => ask(policy, { topic, effective_config: { safety } });

    expect(asked({ denied_topics: ['job.*'] }).decision).toBe('DENY');
    expect(asked({ allowed_topics: ['job.b'] }, 'job.person').decision).toBe('DENY');
    expect(asked({ allowed_topics: ['job.person'] }, 'job.person').decision).toBe('REQUIRE_APPROVAL');
    expect(asked({ allowed_topics: ['job.a'] }).policy_snapshot).toMatch(/^[0-9a-f]{64}\|cfg:[0-9a-f]{64}$/);
    expect(asked({ allowed_topics: [], denied_topics: [] }).policy_snapshot).toBe(policy.snapshot);
    const tools = { effective_config: { safety: { mcp: { allow: ['read'] } } }, labels: { 'mcp.tool': 'write' } };
    expect(verdict(policy, tools)).toEqual(['DENY', '']);
  });

  it('the configuration’s, all of which apply when several documents have one', () => {
    const asked = (safety: object, topic: string, labels = {}) =>
      ask(policy, { topic, labels, effective_config: { safety } }).decision;
    const topics = { allowed_topics: [['job.*.a', 'job.z'], ['job.b.*']] };
    const mcp = { mcp: { allow_tools: [['read*'], ['*file']], deny: ['read_key_file'] } };

    expect(asked(topics, 'job.b.a')).toBe(ask(policy, { topic: 'job.b.a' }).decision);
    for (const topic of ['job.c.a', 'job.b.c', 'job.z']) expect(asked(topics, topic)).toBe('DENY');
    expect(asked({ allowed_topics: [['job.a'], ['job.b']] }, 'job.a')).toBe('DENY');
    expect(asked(mcp, 'job.a', { 'mcp.tool': 'read_file' })).toBe('ALLOW');
    for (const tool of ['read', 'file', 'read_key_file'])
      expect(asked(mcp, 'job.a', { 'mcp.tool': tool })).toBe('DENY');
  });
});

it('parsing a document twice makes equal policies', () => {
  const text = rules('id: r, decision: allow');

  expect(mergePolicies([parseDocument(text)]).snapshot).toBe(mergePolicies([parseDocument(text)]).snapshot);
});
