import type { DelegationMatch, RuleMatch, Scalar } from '../document/policy-document';
import type { Facts } from './facts';
import { anyGlob, fold } from './glob';
import { compileMcpLists } from './mcp-lists';
import { compilePredicate } from './predicate';

/** One key of a rule's `match`, compiled. A trace reports its name when it fails. */
export interface Condition {
  name: string;
  holds(facts: Facts): boolean;
}

type Test = Condition['holds'];

/**
 * Compiles a `match`: all conditions must hold. A key with an empty list is ignored. Cheap conditions are evaluated
 * first, those that parse content last. See docs/reference/policy.md#rules.
 */
export function compileMatch(match: RuleMatch = {}): Condition[] {
  const tests: Record<string, Test | undefined> = {
    tenants: oneOf(match.tenants, (facts) => facts.tenant),
    topics: anyOf(match.topics, (facts) => [facts.topic]),
    actor_ids: oneOf(match.actor_ids, (facts) => facts.actorId),
    actor_types: oneOf(match.actor_types, (facts) => facts.actorType),
    pack_ids: oneOf(match.pack_ids, (facts) => facts.packId),
    agent_risk_tiers: oneOf(match.agent_risk_tiers, (facts) => facts.agentRiskTier),
    agent_data_classifications: anyIn(match.agent_data_classifications, (facts) => facts.agentDataClassifications),
    risk_tags: given(match.risk_tags, (tags) => some(tags.map(fold), (facts) => facts.riskTags)),
    requires: given(match.requires, (wanted) => every(wanted.map(fold), (facts) => facts.requires)),
    capabilities: anyOf(match.capabilities, (facts) => facts.capabilities),
    secrets_present:
      match.secrets_present === undefined ? undefined : (f) => f.secretsPresent === match.secrets_present,
    labels: givenMap(match.labels, labelsEqual),
    label_allowlist: givenMap(match.label_allowlist, labelsOutside),
    label_threshold: givenMap(match.label_threshold, labelsAbove),
    delegation: match.delegation && delegationTest(match.delegation),
    predicate: match.predicate === undefined ? undefined : predicateTest(match.predicate),
    mcp: match.mcp && mcpTest(match.mcp),
    metadata: givenMap(match.metadata, metadataHolds),
  };
  return Object.entries(tests).flatMap(([name, holds]) => (holds ? [{ name, holds }] : []));
}

/** The name of the first condition that fails, undefined when all hold. */
export function firstFailing(conditions: readonly Condition[], facts: Facts): string | undefined {
  for (const condition of conditions) if (!condition.holds(facts)) return condition.name;
  return undefined;
}

const given = <T>(list: readonly T[] | undefined, make: (list: readonly T[]) => Test) =>
  list?.length ? make(list) : undefined;

const givenMap = <T>(map: Record<string, T> | undefined, make: (entries: [string, T][]) => Test): Test | undefined => {
  const entries = Object.entries(map ?? {});
  return entries.length > 0 ? make(entries) : undefined;
};

const some =
  (wanted: readonly string[], held: (facts: Facts) => ReadonlySet<string>): Test =>
  (facts) =>
    wanted.some((each) => held(facts).has(each));

const every =
  (wanted: readonly string[], held: (facts: Facts) => ReadonlySet<string>): Test =>
  (facts) =>
    wanted.every((each) => held(facts).has(each));

const oneOf = (list: readonly string[] | undefined, read: (facts: Facts) => string) =>
  given(list, (values) => {
    const set = new Set(values.map(fold));
    return (facts) => set.has(read(facts));
  });

const anyIn = (list: readonly string[] | undefined, read: (facts: Facts) => readonly string[]) =>
  given(list, (values) => {
    const set = new Set(values.map(fold));
    return (facts) => read(facts).some((value) => set.has(value));
  });

const anyOf = (list: readonly string[] | undefined, read: (facts: Facts) => readonly string[]) =>
  given(list, (patterns) => {
    const matches = anyGlob(patterns);
    return (facts) => read(facts).some(matches);
  });

/** Values are case-sensitive here, unlike in all other conditions. */
const labelsEqual = (entries: [string, Scalar][]): Test => {
  const wanted = entries.map(([key, value]) => [key, String(value).trim()] as const);
  return (facts) => wanted.every(([key, value]) => facts.label(key)?.trim() === value);
};

const labelsOutside = (entries: [string, Scalar[]][]): Test => {
  const listed = entries.map(([key, values]) => [key, new Set(values.map((value) => fold(String(value))))] as const);
  return (facts) =>
    listed.every(([key, values]) => {
      const value = facts.label(key);
      return value !== undefined && !values.has(fold(value));
    });
};

const labelsAbove =
  (entries: [string, number][]): Test =>
  (facts) =>
    entries.every(([key, bound]) => (readNumber(facts.label(key)) ?? -Infinity) > bound);

const comparisons: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  gt: (value, bound) => value > bound,
  gte: (value, bound) => value >= bound,
  lt: (value, bound) => value < bound,
  lte: (value, bound) => value <= bound,
};

const metadataHolds = (entries: [string, Scalar][]): Test => {
  const tests = entries.map(([key, wanted]): Test => {
    const [, field, suffix] = /^(.+)_(gt|gte|lt|lte)$/.exec(key) ?? [];
    const compare = suffix === undefined ? undefined : comparisons[suffix];
    if (field === undefined || compare === undefined) return (facts) => equals(facts.metadata(key), wanted);
    return (facts) => {
      const value = readNumber(facts.metadata(field));
      return value !== undefined && compare(value, Number(wanted));
    };
  });
  return (facts) => tests.every((holds) => holds(facts));
};

function equals(value: unknown, wanted: Scalar): boolean {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return false;
  if (typeof wanted === 'number') return readNumber(value) === wanted;
  return fold(String(value)) === fold(String(wanted));
}

/** Numbers and decimal text; anything else, such as `0x10` or an empty label, is not a number. */
function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || !/^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return undefined;
  return Number(value);
}

function delegationTest(match: DelegationMatch): Test {
  const issuers = match.issuers?.length ? new Set(match.issuers.map(fold)) : undefined;
  const root = match.require_issuer === undefined ? undefined : fold(match.require_issuer);
  const scope = (match.required_scope ?? []).map(fold);
  return ({ delegation: { chain, depth, scope: held } }) => {
    const delegated = depth > 0 || chain.length > 0;
    if (match.max_depth !== undefined && depth > match.max_depth) return false;
    if (issuers && !chain.every((id) => issuers.has(fold(id)))) return false;
    if (root !== undefined && fold(chain[0] ?? '') !== root) return false;
    if (!scope.every((wanted) => held.some((each) => fold(each) === wanted))) return false;
    if (match.forbid_delegated && delegated) return false;
    return !match.delegation_required || delegated;
  };
}

/** An invalid predicate is rejected with the document; if one gets here, its rule never matches. */
function predicateTest(source: string): Test {
  const holds = compilePredicate(source);
  return (facts) => holds?.(facts.delegation) ?? false;
}

/** A key with an allow list must be present in the request; a request without MCP labels never matches. */
function mcpTest(lists: NonNullable<RuleMatch['mcp']>): Test {
  const breach = compileMcpLists(lists, { absentBreaches: true });
  return ({ mcp }) => mcp !== undefined && breach(mcp) === undefined;
}
