import type {
  Constraints,
  DelegationMatch,
  McpLists,
  PolicyDocument,
  Rule,
  RuleMatch,
} from '../document/policy-document';
import type { PolicyRequest } from './request';

/**
 * A second evaluator, slow and plain, for comparison: no index, no compiled tests, no generator, and no code shared with
 * the real one. Content rules are not part of it.
 */
export interface ModelCase {
  documents: PolicyDocument[];
  request: PolicyRequest;
  /** Requests in a window, this one included, by `<rule> <key>`. */
  counts: Record<string, number>;
  overrides: 'tighten' | 'extend';
}

export interface ModelDecision {
  decision: string;
  ruleId: string;
  isLimited: boolean;
}

interface Placed {
  rule: Rule;
  source: string;
  tier: string;
  ids: string[];
}

const strictness = ['ALLOW', 'ALLOW_WITH_CONSTRAINTS', 'REQUIRE_APPROVAL', 'THROTTLE', 'DENY'];
const low = (text: string | undefined) => (text ?? '').trim().toLowerCase();

export function modelDecision(given: ModelCase): ModelDecision {
  const { documents, request } = given;
  if (!request.topic.startsWith('job.')) return { decision: 'DENY', ruleId: '', isLimited: false };
  const toDecision = byRules(given);
  const canBeDenied = toDecision.decision !== 'DENY' && toDecision.decision !== 'THROTTLE';
  const breaches = tenantBreaches(documents, request) || configBreaches(request);
  return canBeDenied && breaches ? { decision: 'DENY', ruleId: '', isLimited: false } : toDecision;
}

function byRules(given: ModelCase): ModelDecision {
  const isOverride = ({ source }: { source: string }) =>
    given.overrides === 'tighten' && source.startsWith('workflow/') && source.endsWith('/policy');
  const rules = effectiveRules(given.documents, isOverride);
  const isInvariant = ({ source, tier }: Placed) => source === 'secops/invariants' && tier === 'global';
  const isEarlyVelocity = ({ source, tier, rule }: Placed) =>
    source.startsWith('velocity/') && tier === 'global' && !permits(rule);
  const ordinary = rules.filter((each) => !isInvariant(each) && !isEarlyVelocity(each) && !isOverride(each));
  const first = (from: Placed[]) => from.find((each) => applies(each, given))?.rule;
  const inTier = (tier: string) => ordinary.filter((each) => each.tier === tier);

  const ban = first(rules.filter((each) => isInvariant(each) && !permits(each.rule))) ?? first(rules.filter(isEarlyVelocity));
  if (ban) return toDecision(ban);
  const job = first(inTier('job'));
  const narrow = job ?? first(inTier('workflow'));
  const wide = first(inTier('global'));
  const found = narrow ?? wide ?? first(rules.filter((each) => isInvariant(each) && permits(each.rule)));
  const wider = narrow && wide ? [wide, narrow] : found ? [found] : [];
  // Rules of tier job in an override are for its own jobs too, and come before those of tier workflow.
  const own = rules.filter(isOverride);
  const tightening = job ? undefined : first(['job', 'workflow', 'global'].flatMap((tier) => own.filter((each) => each.tier === tier)));
  const byRule = [...wider, ...(tightening ? [tightening] : [])];
  if (wider.length > 0) return strictest(byRule);
  const speaks = (documents: readonly PolicyDocument[]) =>
    ['job', 'workflow', 'global'].flatMap((tier) =>
      documents.filter((d) => d.tier === tier && d.default_decision && selects(tier, listIds(d.selector), given.request)),
    )[0]?.default_decision === 'allow';
  const others = given.documents.filter((d) => !isOverride(d));
  if (tightening) return speaks(others) || tightening.decision === 'deny' ? toDecision(tightening) : refused;
  return speaks(given.documents.filter((d) => !isOverride(d) || d.default_decision === 'deny')) ? { ...refused, decision: 'ALLOW' } : refused;
} // prettier-ignore

const refused: ModelDecision = { decision: 'DENY', ruleId: '', isLimited: false };

/** A later rule with the same name and scope replaces the earlier one in its position. */
function effectiveRules(
  documents: readonly PolicyDocument[],
  isOverride: (of: { source: string }) => boolean,
): Placed[] {
  const all = documents.flatMap((document) =>
    [...legacy(document), ...document.rules].map((rule): Placed => {
      const tier = rule.tier ?? document.tier;
      const inherited = tier === document.tier ? document.selector : undefined;
      return { rule, source: document.source, tier, ids: listIds(rule.selector ?? inherited) };
    }),
  );
  const place = ({ source, tier, ids, rule }: Placed) =>
    JSON.stringify([source === 'secops/invariants', isOverride({ source }), tier, ids, rule.id]);
  return [...new Set(all.map(place))].flatMap((name) => all.filter((each) => place(each) === name).slice(-1));
}

const listIds = (selector: PolicyDocument['selector'] = {}): string[] =>
  [selector.workflow_id, selector.job_id, selector.session_id].flatMap((id) => (id ? [id.trim()] : []));

function legacy({ rules, tenants }: PolicyDocument): Rule[] {
  if (rules.length > 0) return [];
  return Object.entries(tenants).flatMap(([tenant, { deny_topics = [], allow_topics = [] }]) => {
    const rule = (decision: 'allow' | 'deny', topic: string, n: number): Rule => ({
      id: `legacy:${tenant}:${decision}:${n}`,
      decision,
      match: { tenants: [tenant], topics: [topic] },
    });
    return [...deny_topics.map((topic, n) => rule('deny', topic, n)), ...allow_topics.map((topic, n) => rule('allow', topic, n))];
  });
} // prettier-ignore

const permits = ({ decision }: Rule) => decision === 'allow' || decision === 'allow_with_constraints';
const limits = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : typeof value === 'object' && value !== null
      ? Object.values(value).some(limits)
      : value !== undefined && value !== false && value !== '';
const getVerdict = ({ decision, constraints }: Rule) =>
  decision === 'allow' && limits(constraints ?? {}) ? 'ALLOW_WITH_CONSTRAINTS' : decision.toUpperCase();

function toDecision(rule: Rule, constraints: (Constraints | undefined)[] = [rule.constraints]): ModelDecision {
  const decision = getVerdict(rule);
  const isLimited = constraints.some(limits) && decision !== 'DENY' && decision !== 'THROTTLE';
  return { decision: decision === 'ALLOW' && isLimited ? 'ALLOW_WITH_CONSTRAINTS' : decision, ruleId: rule.id, isLimited };
} // prettier-ignore

/** The last of equally strict rules, with the constraints of all. */
function strictest(rules: readonly Rule[]): ModelDecision {
  const most = Math.max(...rules.map((rule) => strictness.indexOf(getVerdict(rule))));
  const chosen = rules.filter((rule) => strictness.indexOf(getVerdict(rule)) === most).slice(-1);
  return chosen.map((rule) => toDecision(rule, rules.map(({ constraints }) => constraints)))[0] ?? refused;
} // prettier-ignore

function applies({ rule, tier, ids }: Placed, { request, counts }: ModelCase): boolean {
  if (!selects(tier, ids, request) || !isEvaluated(rule, request) || !holds(rule.match ?? {}, request)) return false;
  if (!rule.velocity) return true;
  const parts = rule.velocity.key.split(':').map((part) => keyPart(part, request));
  if (parts.some((part) => part === '')) return false;
  return (counts[`${rule.id} ${parts.join(':')}`] ?? 0) > rule.velocity.max_requests;
}

function keyPart(part: string, request: PolicyRequest): string {
  if (part.startsWith('labels.')) return label(part.slice('labels.'.length), request)?.trim() ?? '';
  const parts: Record<string, string | undefined> = { tenant: request.tenant, topic: request.topic, ...request.meta, risk_tags: '', requires: '', labels: '' }; // prettier-ignore
  return low(parts[part]);
}

function selects(tier: string, ids: readonly string[], { job_id, workflow_id, server_labels = {} }: PolicyRequest) {
  if (tier === 'global') return true;
  const known = tier === 'job' ? [job_id, server_labels['session_id']] : [workflow_id, server_labels['workflow.id']];
  return known.some((id) => id !== undefined && ids.includes(id.trim()));
}

/** Which rules may permit which requests; denying rules always apply. */
function isEvaluated(rule: Rule, request: PolicyRequest): boolean {
  if (!permits(rule)) return true;
  if (low(request.topic) === 'job.edge.action') return (rule.match?.topics ?? []).some((topic) => low(topic) === 'job.edge.action'); // prettier-ignore
  return (rule.match?.mcp !== undefined) === hasMcp(request);
}

const label = (key: string, { server_labels, labels, meta }: PolicyRequest) =>
  server_labels?.[key] ?? labels?.[key] ?? meta?.labels?.[key];
const getMcp = (kind: string, request: PolicyRequest) => low(label(`mcp.${kind}`, request) ?? label(`mcp_${kind}`, request)); // prettier-ignore
const hasMcp = (request: PolicyRequest) => ['server', 'tool', 'resource', 'action'].some((kind) => getMcp(kind, request) !== ''); // prettier-ignore

export function glob(pattern: string, text: string): boolean {
  const source = low(pattern)
    .replaceAll('.', '\\.')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return new RegExp(`^${source}$`).test(low(text));
} // prettier-ignore

function holds(match: RuleMatch, request: PolicyRequest): boolean {
  const { meta = {}, agent = {} } = request;
  const among = (list: readonly string[] | undefined, value: string | undefined) =>
    !list?.length || list.some((each) => low(each) === low(value));
  const anyOf = (list: readonly string[] | undefined, values: readonly string[] = []) =>
    !list?.length || list.some((each) => values.some((value) => low(value) === low(each)));
  const globbed = (list: readonly string[] | undefined, value: string | undefined) =>
    !list?.length || (!!value?.trim() && list.some((pattern) => glob(pattern, value)));
  const tags = deriveTags(request);
  const secrets = ['true', '1', 'yes'].includes(low(label('secrets_present', request))) || tags.some((tag) => low(tag) === 'secrets'); // prettier-ignore
  return [
    among(match.tenants, request.tenant),
    globbed(match.topics, request.topic),
    globbed(match.capabilities, meta.capability),
    anyOf(match.risk_tags, tags),
    (match.requires ?? []).every((need) => (meta.requires ?? []).some((each) => low(each) === low(need))),
    among(match.pack_ids, meta.pack_id),
    among(match.actor_ids, meta.actor_id),
    among(match.actor_types, meta.actor_type),
    among(match.agent_risk_tiers, agent.risk_tier),
    anyOf(match.agent_data_classifications, agent.data_classifications),
    Object.entries(match.labels ?? {}).every(([key, value]) => label(key, request)?.trim() === String(value).trim()),
    Object.entries(match.label_allowlist ?? {}).every(([key, listed]) => {
      const value = label(key, request);
      return value !== undefined && !listed.some((each) => low(String(each)) === low(value));
    }),
    Object.entries(match.label_threshold ?? {}).every(([key, bound]) => (number(label(key, request)) ?? -Infinity) > bound),
    match.secrets_present === undefined || match.secrets_present === secrets,
    Object.entries(match.metadata ?? {}).every(([key, wanted]) => metadata(key, wanted, request)),
    match.predicate === undefined || predicate(match.predicate, request),
    match.delegation === undefined || delegation(match.delegation, request),
    match.mcp === undefined || (hasMcp(request) && !mcpBreach(match.mcp, request, { absentBreaches: true })),
  ].every(Boolean);
} // prettier-ignore

function deriveTags({ risk_tag_deriver, input_content, meta }: PolicyRequest): readonly string[] {
  if (!risk_tag_deriver) return meta?.risk_tags ?? [];
  const tiers = [...risk_tag_deriver.tiers].sort((a, b) => b.from - a.from);
  const amount = content(input_content)['amount'];
  const tier = typeof amount === 'number' && amount > 0 ? tiers.find(({ from }) => amount >= from) : tiers[0];
  return tier ? [tier.tag] : (meta?.risk_tags ?? []);
}

const content = (text: PolicyRequest['input_content']): Record<string, unknown> =>
  typeof text === 'string' && text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
const number = (value: unknown) => {
  const read = typeof value === 'string' && value.trim() === '' ? NaN : Number(value);
  return value === undefined || Number.isNaN(read) ? undefined : read;
};

function metadata(key: string, wanted: unknown, request: PolicyRequest): boolean {
  const read = (field: string) => content(request.input_content)[field] ?? request.meta?.labels?.[field] ?? label(field, request); // prettier-ignore
  for (const [end, compare] of [
    ['_gte', (a: number, b: number) => a >= b],
    ['_lte', (a: number, b: number) => a <= b],
    ['_gt', (a: number, b: number) => a > b],
    ['_lt', (a: number, b: number) => a < b],
  ] as const) {
    // prettier-ignore
    if (!key.endsWith(end)) continue;
    const value = number(read(key.slice(0, -end.length)));
    return value !== undefined && compare(value, Number(wanted));
  }
  const value = read(key);
  return typeof wanted === 'number' ? number(value) === wanted : value !== undefined && low(String(value)) === low(String(wanted)); // prettier-ignore
}

function predicate(text: string, { delegation: held = { chain: [], depth: 0, scope: [] } }: PolicyRequest): boolean {
  const [, subject, operator, value = ''] = /^delegation\.(\w+)(?:\.contains\(| (\S+) )"?([^")]*)/.exec(text) ?? [];
  if (subject === 'issuer') return low(held.chain[0]) === low(value);
  if (subject === 'scope') return held.scope.some((each) => low(each) === low(value));
  const bound = Number(value);
  if (operator === '>=') return held.depth >= bound;
  if (operator === '<=') return held.depth <= bound;
  if (operator === '>') return held.depth > bound;
  return operator === '<' ? held.depth < bound : held.depth === bound;
}

function delegation(match: DelegationMatch, { delegation: held = { chain: [], depth: 0, scope: [] } }: PolicyRequest) {
  const isDelegated = held.depth > 0 || held.chain.length > 0;
  const { max_depth = Infinity, issuers = [], require_issuer, required_scope = [] } = match;
  return [
    held.depth <= max_depth,
    issuers.length === 0 || held.chain.every((id) => issuers.some((each) => low(each) === low(id))),
    require_issuer === undefined || low(held.chain[0]) === low(require_issuer),
    required_scope.every((wanted) => held.scope.some((each) => low(each) === low(wanted))),
    !match.forbid_delegated || !isDelegated,
    !match.delegation_required || isDelegated,
  ].every(Boolean);
}

function mcpBreach(lists: McpLists, request: PolicyRequest, { absentBreaches }: { absentBreaches: boolean }): boolean {
  return (['server', 'tool', 'resource', 'action'] as const).some((kind) => {
    const [allow, deny] = [lists[`allow_${kind}s`] ?? [], lists[`deny_${kind}s`] ?? []];
    const value = getMcp(kind, request);
    if (value === '') return absentBreaches && allow.length > 0;
    const listed = (list: readonly string[]) => list.some((pattern) => glob(pattern, value));
    return listed(deny) || (allow.length > 0 && !listed(allow));
  });
}

/** A tenant's lists from all documents together. */
function tenantBreaches(documents: readonly PolicyDocument[], request: PolicyRequest): boolean {
  const own = documents.flatMap(({ tenants }) =>
    Object.entries(tenants).flatMap(([name, lists]) => (low(name) === low(request.tenant) ? [lists] : [])),
  );
  const joined = <T>(read: (lists: (typeof own)[number]) => T[] | undefined) => own.flatMap((lists) => read(lists) ?? []);
  const [denied, allowed] = [joined((lists) => lists.deny_topics), joined((lists) => lists.allow_topics)];
  const isOf = (list: readonly string[]) => list.some((pattern) => glob(pattern, request.topic));
  const mcp = {
    allow_tools: joined(({ mcp: m }) => [...(m?.allow_tools ?? []), ...(m?.allow ?? [])]),
    deny_tools: joined(({ mcp: m }) => [...(m?.deny_tools ?? []), ...(m?.deny ?? [])]),
  };
  return isOf(denied) || (allowed.length > 0 && !isOf(allowed)) || mcpBreach(mcp, request, { absentBreaches: false });
} // prettier-ignore

function configBreaches(request: PolicyRequest): boolean {
  const config = request.effective_config as { safety?: { denied_topics?: string[]; allowed_topics?: string[]; mcp?: McpLists } } | undefined; // prettier-ignore
  const { denied_topics = [], allowed_topics = [], mcp = {} } = config?.safety ?? {};
  const isOf = (list: readonly string[]) => list.some((pattern) => glob(pattern, request.topic));
  return (
    isOf(denied_topics) ||
    (allowed_topics.length > 0 && !isOf(allowed_topics)) ||
    mcpBreach(mcp, request, { absentBreaches: false })
  );
}
