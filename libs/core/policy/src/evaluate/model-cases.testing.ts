import fc from 'fast-check';
import type { PolicyDocument, Rule, RuleMatch, TenantPolicy } from '../document/policy-document';
import type { ModelCase } from './model.testing';
import type { PolicyRequest } from './request';

const some = <T>(...values: T[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });
const maybe = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] });
/** Most fields are present, so that conditions often match. */
const mostly = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> =>
  fc
    .tuple(fc.record(fields), fc.uniqueArray(fc.constantFrom(...Object.keys(fields)), { maxLength: 2 }))
    .map(([all, left]): Partial<T> => {
      const kept: Partial<T> = {};
      for (const key in all) if (!left.includes(key)) kept[key] = all[key];
      return kept;
    });
/** One field, sometimes two: all of them must hold. */
const few = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> =>
  fc
    .tuple(fc.record(fields), fc.uniqueArray(fc.constantFrom(...Object.keys(fields)), { minLength: 1, maxLength: 2 }))
    .map(([all, chosen]): Partial<T> => {
      const kept: Partial<T> = {};
      for (const key in all) if (chosen.includes(key)) kept[key] = all[key];
      return kept;
    });

const topics = ['job.a', 'job.a.b', 'JOB.A', 'job.*', '*.b', 'job.?', 'job.a*', '*', 'job.edge.action', 'job.c/*'];
const words = fc.constantFrom('x', 'X ', 'y');
const mcpLists = few({
  allow_tools: some('read', 'drop', 're*'),
  deny_tools: some('drop'),
  allow_servers: some('files', 'mail'),
  deny_resources: some('doc:*'),
  allow_actions: some('go'),
});

/** Every match key, with values that the requests below contain now and then. */
export const matchKeys: { [Key in keyof RuleMatch]-?: fc.Arbitrary<NonNullable<RuleMatch[Key]>> } = {
  topics: some(...topics),
  tenants: some('t', 'T', 'u'),
  capabilities: some('cap.one', 'cap.*', 'Cap.Two'),
  risk_tags: some('x', 'Y', 'big', 'secrets'),
  requires: some('gpu', 'NET'),
  pack_ids: some('p', 'q'),
  actor_ids: some('ann', 'BOB'),
  actor_types: some('human', 'service'),
  agent_risk_tiers: some('low', 'HIGH'),
  agent_data_classifications: some('pii', 'public'),
  labels: few({ kind: fc.constantFrom('k', 'K'), customer: fc.constantFrom('c1') }),
  label_allowlist: few({ kind: some('k', 'L'), region: some('eu') }),
  label_threshold: few({ size: fc.constantFrom(5, 10), }),
  secrets_present: fc.boolean(),
  metadata: few({
      amount_gt: fc.constantFrom(5, 10),
      amount_gte: fc.constantFrom(10),
      amount_lt: fc.constantFrom(10),
      size_lte: fc.constantFrom(5, 10),
      kind: fc.constantFrom('K', 'l'),
      amount: fc.constantFrom(10),
      urgent: fc.boolean(),
    }),
  predicate: fc.constantFrom(
    'delegation.depth >= 1', 'delegation.depth < 1', 'delegation.depth == 2', 'delegation.depth <= 1',
    'delegation.depth > 1', 'delegation.issuer == "root"', 'delegation.scope.contains("pay")',
  ),
  delegation: few({
      max_depth: fc.constantFrom(0, 1),
      issuers: some('root', 'Helper'),
      require_issuer: fc.constantFrom('ROOT', 'other'),
      required_scope: some('pay', 'read'),
      forbid_delegated: fc.boolean(),
      delegation_required: fc.boolean(),
    }),
  mcp: mcpLists,
}; // prettier-ignore

/** At most two keys at a time, since more would hardly ever match. */
const oneKey: fc.Arbitrary<RuleMatch> = fc.oneof(
  ...Object.entries(matchKeys).map(([name, values]: [string, fc.Arbitrary<unknown>]) =>
    values.map((value): RuleMatch => ({ [name]: value })),
  ),
);
const anyMatch: fc.Arbitrary<RuleMatch> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 4, arbitrary: oneKey },
  { weight: 2, arbitrary: fc.tuple(oneKey, oneKey).map(([a, b]) => ({ ...a, ...b })) },
);

const constraints = fc.constantFrom<Rule['constraints']>(
  undefined,
  undefined,
  {},
  { sandbox: { isolated: false } },
  { budgets: { max_retries: 0 } },
  { budgets: { max_runtime_ms: 9 }, toolchain: { allowed_tools: ['a'] } },
  { redaction_level: 'all' },
);
const velocity = fc.record({
  max_requests: fc.integer({ min: 1, max: 3 }),
  window_seconds: fc.constant(60),
  key: fc.constantFrom('tenant:labels.customer', 'actor_id', 'topic:pack_id', 'capability'),
});

const ids = [...'abcdefghijkl'];
const anyRule: fc.Arbitrary<Rule> = fc
  .record({
    id: fc.constantFrom(...ids),
    decision: fc.constantFrom<Rule['decision']>('allow', 'deny', 'require_approval', 'throttle', 'allow_with_constraints'),
    match: anyMatch,
    velocity: fc.option(velocity, { nil: undefined, freq: 4 }),
    constraints,
    place: fc.option(
      fc.constantFrom<Pick<Rule, 'tier' | 'selector'>>({ tier: 'job', selector: { job_id: 'J' } }, { tier: 'global' }),
      { nil: {}, freq: 6 },
    ),
  })
  .map(({ velocity: window, constraints: limited, place, ...rule }) => ({
    ...rule,
    ...place,
    ...(window && { velocity: window }),
    ...(limited && { constraints: limited }),
  })); // prettier-ignore

const places: Pick<PolicyDocument, 'source' | 'tier' | 'selector'>[] = [
  { source: 'base', tier: 'global' },
  { source: 'pack/x', tier: 'global' },
  { source: 'job/j/policy', tier: 'job', selector: { job_id: 'j' } },
  { source: 'session/s/policy', tier: 'job', selector: { session_id: 's' } },
  { source: 'secops/invariants', tier: 'global' },
  { source: 'velocity/v', tier: 'global' },
  { source: 'workflow/w/policy', tier: 'workflow', selector: { workflow_id: 'w' } },
];

const tenantLists: fc.Arbitrary<TenantPolicy> = maybe({
  allow_topics: some('job.a*', 'job.*', '*'),
  deny_topics: some('job.b', 'job.?'),
  mcp: few({ allow: some('read', 're*'), deny_tools: some('drop') }),
});

const anyDocument = (place: (typeof places)[number]): fc.Arbitrary<PolicyDocument> =>
  fc
    .record({
      rules: fc.uniqueArray(anyRule, { selector: ({ id }) => id, minLength: 3, maxLength: 8, size: 'max' }),
      fallback: fc.constantFrom(undefined, undefined, 'allow' as const, 'deny' as const),
      tenants: fc.oneof(
        { weight: 4, arbitrary: fc.constant({}) },
        maybe<Record<string, TenantPolicy>>({ t: tenantLists, U: tenantLists }),
      ),
    })
    .map(({ rules, fallback, tenants }) => ({
      ...place,
      rules,
      input_rules: [],
      output_rules: [],
      tenants: place.tier === 'global' ? tenants : {},
      ...(fallback !== undefined && { default_decision: fallback }),
    }));

const labels = mostly({
  'mcp.tool': fc.constantFrom('read', 'DROP'),
  mcp_server: fc.constantFrom('files', 'mail'),
  'mcp.resource': fc.constantFrom('doc:1'),
  kind: fc.constantFrom('k', 'K', ' k', 'l'),
  customer: fc.constantFrom('c1', 'c2', ' '),
  size: fc.constantFrom('7', '11', '20', 'large', ''),
  region: fc.constantFrom('eu', 'us'),
  secrets_present: fc.constantFrom('yes', 'no'),
  urgent: fc.constantFrom('true'),
});
const chains = [
  { chain: [], depth: 0, scope: [] },
  { chain: ['root'], depth: 1, scope: ['pay'] },
  { chain: ['Root', 'helper'], depth: 2, scope: ['Read', 'pay'] },
  { chain: ['other'], depth: 1, scope: [] },
];
const tiers = [{ from: 0, tag: 'x' }, { from: 10, tag: 'BIG' }]; // prettier-ignore
const anyRequest: fc.Arbitrary<PolicyRequest> = fc
  .tuple(
    fc.record({
      topic: fc.constantFrom('job.a', 'job.a.b', 'job.b', 'job.c/d', 'job.A', 'job.edge.action', 'other'),
      tenant: fc.constantFrom('t', 'u', 'U'),
      meta: mostly({
        risk_tags: fc.uniqueArray(fc.constantFrom('x', 'y', 'Secrets'), { maxLength: 2 }),
        requires: fc.uniqueArray(fc.constantFrom('gpu', 'net'), { maxLength: 2 }),
        capability: fc.constantFrom('cap.one', 'cap.two', ''),
        pack_id: fc.constantFrom('p', 'P'),
        actor_id: fc.constantFrom('ann', 'bob'),
        actor_type: fc.constantFrom('human', 'service'),
        labels: maybe({ kind: words, amount: fc.constantFrom('10', '4') }),
      }),
      labels: fc.option(labels, { nil: {}, freq: 2 }),
    }),
    mostly({
      job_id: fc.constantFrom('j', 'J', 'other'),
      workflow_id: fc.constantFrom('w', 'W', 'other'),
      server_labels: maybe({ session_id: fc.constant('s'), 'workflow.id': fc.constant('w'), kind: fc.constant('k') }),
      agent: maybe({ risk_tier: fc.constantFrom('low', 'high'), data_classifications: fc.constantFrom(['PII'], []) }),
      delegation: fc.constantFrom(...chains),
      risk_tag_deriver: fc.constant({ kind: 'amount-threshold' as const, tiers }),
      input_content: fc.constantFrom('{"amount": 10}', '{"amount": 12, "kind": "K"}', '{"amount": -1}', 'words', '{"urgent": true}'),
      effective_config: fc.constantFrom(
        {},
        {},
        {},
        { safety: { denied_topics: ['job.b'] } },
        { safety: { allowed_topics: ['job.a*'], mcp: { deny_tools: ['drop'] } } },
      ),
    }),
  )
  .map(([request, more]) => ({ ...request, ...more })); // prettier-ignore

const windows = ['t:c1', 't:c2', 'u:c1', 'ann', 'bob', 'job.a:p', 'job.b:p', 'cap.one', 'cap.two'];

export const anyCase: fc.Arbitrary<ModelCase> = fc.record({
  documents: fc.subarray(places, { minLength: 1, maxLength: 4 }).chain((chosen) => fc.tuple(...chosen.map(anyDocument))),
  request: anyRequest,
  overrides: fc.constantFrom('tighten' as const, 'extend' as const),
  counts: fc.dictionary(
    fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...windows)).map((parts) => parts.join(' ')),
    fc.integer({ min: 0, max: 5 }),
    { maxKeys: 40 },
  ),
}); // prettier-ignore
