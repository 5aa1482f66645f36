import fc from 'fast-check';
import { mergePolicies } from '../compile/merge-policies';
import type { PolicyDocument, Rule } from '../document/policy-document';
import { decide } from './decide';
import type { PolicyRequest, VelocityAnswer } from './request';

/**
 * The order of rules once more, as slowly and plainly as policy contract 3.3, 3.4 and 3.7 tell it: no index, no
 * compiled tests, no generator. What it does not know (constraints, content, lists) other tests tell.
 */
type Short = [decision: string, ruleId: string];
interface Case {
  documents: PolicyDocument[];
  request: PolicyRequest;
  counts: Record<string, number>;
}
const strictness = ['allow', 'require_approval', 'throttle', 'deny'];
const permits = (rule: Rule) => rule.decision === 'allow';

function modelDecision({ documents, request, counts }: Case): Short {
  const all = documents.flatMap((document) => document.rules.map((rule) => ({ document, rule })));
  // A later rule of the same name in the same place stands where the earlier one stood.
  const place = ({ document: d, rule }: (typeof all)[number]) =>
    `${d.source === 'secops/invariants'} ${d.tier} ${JSON.stringify(d.selector ?? {})} ${rule.id}`;
  const standing = [...new Set(all.map(place))].flatMap((name) => all.filter((each) => place(each) === name).slice(-1));
  const rulesOf = (wanted: (each: (typeof all)[number]) => boolean) => standing.filter(wanted).map(({ rule }) => rule);
  const isInvariant = ({ document }: (typeof all)[number]) => document.source === 'secops/invariants';
  const isEarlyVelocity = ({ document, rule }: (typeof all)[number]) =>
    document.source.startsWith('velocity/') && !permits(rule);
  const first = (rules: Rule[]) => rules.find((rule) => modelMatches(rule, request, counts));
  const inTier = (tier: string) =>
    rulesOf(
      (each) =>
        each.document.tier === tier && !isInvariant(each) && !isEarlyVelocity(each) && selects(each.document, request),
    );

  const ban =
    first(rulesOf((each) => isInvariant(each) && !permits(each.rule))) ??
    first(rulesOf((each) => isEarlyVelocity(each)));
  if (ban) return short(ban);
  const narrow = first(inTier('job')) ?? first(inTier('workflow'));
  const wide = first(inTier('global'));
  if (narrow && wide) return short(rank(wide) > rank(narrow) ? wide : narrow);
  const found = narrow ?? wide ?? first(rulesOf((each) => isInvariant(each) && permits(each.rule)));
  if (found) return short(found);
  for (const tier of ['job', 'workflow', 'global']) {
    const speaks = documents.find((d) => d.tier === tier && selects(d, request) && d.default_decision !== undefined);
    if (speaks) return [speaks.default_decision === 'allow' ? 'ALLOW' : 'DENY', ''];
  }
  return ['DENY', ''];
}

const rank = (rule: Rule) => strictness.indexOf(rule.decision);
const short = (rule: Rule): Short => [rule.decision.toUpperCase(), rule.id];

function selects({ tier, selector }: PolicyDocument, request: PolicyRequest): boolean {
  if (tier === 'global') return true;
  return tier === 'job' ? selector?.job_id === request.job_id : selector?.workflow_id === request.workflow_id;
}

function modelMatches(rule: Rule, request: PolicyRequest, counts: Record<string, number>): boolean {
  const { topics, tenants, risk_tags, capabilities, requires, labels, mcp } = rule.match ?? {};
  const tool = request.labels?.['mcp.tool'];
  if (permits(rule)) {
    if (request.topic === 'job.edge.action') {
      if (!topics?.includes('job.edge.action')) return false;
    } else if ((mcp !== undefined) !== (tool !== undefined)) return false;
  }
  const globbed = (pattern: string, text: string) =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`).test(text);
  const tags = request.meta?.risk_tags ?? [];
  const holds =
    (!topics?.length || topics.some((pattern) => globbed(pattern, request.topic))) &&
    (!tenants?.length || tenants.includes(request.tenant ?? '')) &&
    (!risk_tags?.length || risk_tags.some((tag) => tags.includes(tag))) &&
    (!capabilities?.length || capabilities.some((pattern) => globbed(pattern, request.meta?.capability ?? ''))) &&
    (requires ?? []).every((need) => request.meta?.requires?.includes(need)) &&
    Object.entries(labels ?? {}).every(([key, value]) => request.labels?.[key] === value) &&
    (mcp === undefined || (tool !== undefined && (!mcp.allow_tools?.length || mcp.allow_tools.includes(tool)))) &&
    !(mcp?.deny_tools ?? []).includes(tool ?? '');
  if (!holds || !rule.velocity) return holds;
  const customer = request.labels?.['customer'];
  return (
    customer !== undefined && (counts[`${rule.id} ${request.tenant}:${customer}`] ?? 0) > rule.velocity.max_requests
  );
}

const some = <T>(...values: T[]) => fc.uniqueArray(fc.constantFrom(...values), { maxLength: 2 });
const maybe = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] });

const anyMatch = maybe({
  topics: some('job.a', 'job.a.b', 'job.*', '*.b', 'job.?', 'job.edge.action'),
  tenants: some('t', 'u'),
  risk_tags: some('x', 'y'),
  capabilities: some('cap.one', 'cap.*'),
  requires: some('gpu', 'net'),
  labels: maybe({ kind: fc.constantFrom('k', 'l') }),
  mcp: maybe({ allow_tools: some('read', 'drop'), deny_tools: some('drop') }),
});
const anyRule: fc.Arbitrary<Rule> = fc
  .tuple(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      decision: fc.constantFrom<Rule['decision']>('allow', 'deny', 'require_approval', 'throttle'),
      match: anyMatch,
    }),
    fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 4 }),
  )
  .map(([rule, max]) => ({
    ...rule,
    ...(max !== undefined && { velocity: { max_requests: max, window_seconds: 60, key: 'tenant:labels.customer' } }),
  }));

const places: Pick<PolicyDocument, 'source' | 'tier' | 'selector'>[] = [
  { source: 'base', tier: 'global' },
  { source: 'pack/x', tier: 'global' },
  { source: 'job/j/policy', tier: 'job', selector: { job_id: 'j' } },
  { source: 'secops/invariants', tier: 'global' },
  { source: 'velocity/v', tier: 'global' },
  { source: 'workflow/w/policy', tier: 'workflow', selector: { workflow_id: 'w' } },
];
const anyDocument = (place: (typeof places)[number]): fc.Arbitrary<PolicyDocument> =>
  fc
    .record({
      rules: fc.uniqueArray(anyRule, { selector: ({ id }) => id, maxLength: 5 }),
      fallback: fc.constantFrom(undefined, undefined, 'allow' as const, 'deny' as const),
    })
    .map(({ rules, fallback }) => ({
      ...place,
      rules,
      input_rules: [],
      output_rules: [],
      tenants: {},
      ...(fallback !== undefined && { default_decision: fallback }),
    }));

const anyRequest: fc.Arbitrary<PolicyRequest> = fc
  .tuple(
    fc.record({
      topic: fc.constantFrom('job.a', 'job.a.b', 'job.b', 'job.c/d', 'job.edge.action'),
      tenant: fc.constantFrom('t', 'u'),
      meta: fc.record({
        risk_tags: some('x', 'y'),
        requires: some('gpu', 'net'),
        capability: fc.constantFrom('cap.one', 'cap.two'),
      }),
      labels: maybe({
        'mcp.tool': fc.constantFrom('read', 'drop'),
        kind: fc.constantFrom('k', 'l'),
        customer: fc.constantFrom('c1', 'c2'),
      }),
    }),
    maybe({ job_id: fc.constantFrom('j', 'other'), workflow_id: fc.constantFrom('w', 'other') }),
  )
  .map(([request, ids]) => ({ ...request, ...ids }));

const anyCase: fc.Arbitrary<Case> = fc.record({
  documents: fc.subarray(places).chain((chosen) => fc.tuple(...chosen.map(anyDocument))),
  request: anyRequest,
  counts: fc.dictionary(
    fc
      .tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), fc.constantFrom('t:c1', 't:c2', 'u:c1'))
      .map((parts) => parts.join(' ')),
    fc.integer({ min: 0, max: 5 }),
  ),
});

it('decides as the plain telling of the contract does, whatever the rules and the request', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyCase, (given) => {
      const count = (id: string, key: string): VelocityAnswer => ({
        kind: 'count',
        count: given.counts[`${id} ${key}`] ?? 0,
      });

      const { decision, rule_id } = decide(mergePolicies(given.documents), given.request, ({ ruleId, key }) =>
        count(ruleId, key),
      );

      seen.add(`${decision} ${rule_id === '' ? 'by default' : 'by rule'}`);
      expect([decision, rule_id]).toEqual(modelDecision(given));
    }),
    { numRuns: 3_000 },
  );
  // The random cases reach every kind of answer, or they would prove little.
  expect([...seen].sort()).toEqual([
    'ALLOW by default',
    'ALLOW by rule',
    'DENY by default',
    'DENY by rule',
    'REQUIRE_APPROVAL by rule',
    'THROTTLE by rule',
  ]);
});
