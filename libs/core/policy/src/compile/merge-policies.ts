import type { OverrideMode } from '@svc/contract';
import { canonicalHash } from '@svc/json';
import type {
  InputPolicy,
  InputRule,
  OutputPolicy,
  OutputRule,
  PolicyDocument,
  RequireHuman,
  Selector,
} from '../document/policy-document';
import { isWorkflowOverride } from '../bundles/bundle-record';
import { isPermitting, type Tier } from '../document/words';
import { compileInputRule, type CompiledInputRule } from './compile-input-rule';
import {
  compileOutputRule,
  compileOverrides,
  type CompiledOutputRule,
  type OutputOverride,
} from './compile-output-rule';
import { compileRule, type CompiledRule, type PlacedRule } from './compile-rule';
import { legacyRules } from './legacy-rules';
import { compileMcpLists } from './mcp-lists';
import { anyGlob, type TextTest } from './glob';
import type { McpFacts } from './facts';
import { mergeTenants, type MergedTenant } from './merge-tenants';
import { RuleSet } from './rule-set';
import { selectorKeys, Tiered } from './tiered';

const invariants = 'secops/invariants';
const inputDefaults: Required<InputPolicy> = { enabled: true, fail_mode: 'closed', max_scan_bytes: 2 * 1024 * 1024 };
const isVelocityBundle = (source: string) => source.startsWith('velocity/');

/** A rule with its source, for lists of rules. See docs/reference/policy.md#output-rules-and-rules-lists. */
export interface Sourced<T> {
  rule: T;
  source: string;
  tier: Tier;
  selector: Selector;
}

/** All documents in effect, merged and compiled. Immutable: a changed set of documents makes a new one. */
export interface Policy {
  /** `[<version>:]<64 hex>`. See docs/reference/policy.md#snapshots. */
  readonly snapshot: string;
  /** Its documents in merge order and the options, so that it can be merged again with one of them replaced. */
  readonly documents: readonly PolicyDocument[];
  readonly mergedWith: MergeOptions;
  readonly version: string | undefined;
  readonly defaultTenant: string | undefined;
  readonly rules: readonly PlacedRule[];
  readonly inputRules: readonly Sourced<InputRule>[];
  readonly outputRules: readonly Sourced<OutputRule>[];
  readonly tenants: Readonly<Record<string, MergedTenant>>;
  /** Ids of velocity rules over the licensed number; they are not in effect. See docs/reference/policy.md#velocity. */
  readonly ignoredVelocityRules: readonly string[];
  /** Whether any velocity rule is in effect, so that decisions must not be cached. */
  readonly hasVelocityRules: boolean;
  readonly compiled: CompiledPolicy;
}

/** Sets of rules in search order, and inputs of the later steps. */
export interface CompiledPolicy {
  invariantBans: RuleSet;
  velocityBans: RuleSet;
  narrow: Tiered<CompiledRule>;
  global: RuleSet;
  invariantAllows: RuleSet;
  defaults: Tiered<'allow' | 'deny'>;
  /** Parts of workflow overrides, which only tighten the decision of all other sets. Empty in mode `extend`. */
  overrides: {
    rules: Tiered<CompiledRule>;
    inputRules: Tiered<CompiledInputRule>;
    /** All default decisions, except permitting ones of overrides. */
    defaults: Tiered<'allow' | 'deny'>;
  };
  tenants: ReadonlyMap<string, CompiledTenant>;
  inputPolicy: Required<InputPolicy>;
  inputRules: Tiered<CompiledInputRule>;
  requireHuman: RequireHuman;
  outputPolicy: OutputPolicy;
  /** Settings that are overridden for a topic, already normalized. */
  outputOverride: (topic: string) => OutputOverride | undefined;
  outputRules: readonly CompiledOutputRule[];
}

export interface CompiledTenant {
  allowsTopic: TextTest | undefined;
  deniesTopic: TextTest;
  mcpBreach: (mcp: McpFacts) => string | undefined;
}

export interface MergeOptions {
  /** Licensed number of velocity rules; undefined or negative: unlimited. */
  maxVelocityRules?: number;
  /** Whether workflow overrides may permit requests that the wider policy denies; default `tighten`. */
  overrides?: OverrideMode;
}

/**
 * Merges documents into the policy in effect. The order is the caller's: the file or URL document first, then enabled
 * bundles by byte order of their ids. See docs/reference/policy.md#documents.
 */
export function mergePolicies(documents: readonly PolicyDocument[], options: MergeOptions = {}): Policy {
  const { maxVelocityRules = -1, overrides: mode = 'tighten' } = options;
  const getSearchSet = searchSets(mode);
  const placed = replaceSameIds(
    documents.flatMap((document) => place(document, [...legacyRules(document), ...document.rules])),
    getSearchSet,
  );
  const { kept: rules, ignored } = withinLicence(placed, maxVelocityRules, getSearchSet);
  const inputRules = replaceSameIds(
    documents.flatMap((document) => place(document, document.input_rules)),
    getSearchSet,
  );
  const outputRules = replaceSameIds(
    documents.flatMap((document) => placeOutput(document)),
    getSearchSet,
  );
  const tenants = mergeTenants(documents.map((document) => document.tenants));
  const first = <Key extends keyof PolicyDocument>(key: Key) =>
    documents.find((document) => document[key] !== undefined)?.[key];

  const version = first('version');
  const defaultTenant = first('default_tenant');
  const inputPolicy = first('input_policy');
  const requireHuman = first('require_human');
  const outputPolicy = first('output_policy') ?? { enabled: false, fail_mode: 'closed' };
  const overrides = documents.flatMap(({ output_policy }) => {
    const { topic_overrides: list = [] } = output_policy ?? {};
    return list.length > 0 ? [list] : [];
  });
  const furtherOverrides = overrides.filter((list) => list !== outputPolicy.topic_overrides);
  const deciding = documents.filter(({ default_decision }) => default_decision !== undefined);
  const defaults = deciding.map(({ source, tier, selector, default_decision }) => ({
    tier, keys: selectorKeys(selector ?? {}), default_decision, ...(getSearchSet(source) === 'override' && { set: 'override' }),
  })); // prettier-ignore
  const hashed = hashedIn(getSearchSet);
  const content = {
    version, default_tenant: defaultTenant, defaults, tenants, ignored, rules: rules.map(hashed),
    input_policy: inputPolicy, input_rules: inputRules.map(hashed), require_human: requireHuman,
    output_policy: outputPolicy, output_rules: outputRules.map(hashed),
    ...(furtherOverrides.length > 0 && { output_overrides: furtherOverrides }),
  }; // prettier-ignore

  const isOverride = ({ source }: { source: string }) => getSearchSet(source) === 'override';
  const isWider = (item: { source: string }) => !isOverride(item);
  const ownInputRules = inputRules
    .filter(({ rule }) => rule.enabled)
    .map((placed) => ({ ...placed, value: compileInputRule(placed.rule, placed.source) }));
  const compiledRules = rules.map((placed) => ({ ...placed, value: compileRule(placed) }));

  return Object.freeze({
    documents,
    mergedWith: options,
    snapshot: `${version === undefined ? '' : `${version}:`}${canonicalHash(content)}`,
    version,
    defaultTenant,
    rules,
    inputRules,
    outputRules,
    tenants,
    ignoredVelocityRules: ignored,
    hasVelocityRules: rules.some(({ rule }) => rule.velocity !== undefined),
    compiled: {
      ...compileRules(compiledRules.filter(isWider)),
      defaults: tiered(deciding.filter(isWider).map(toDefaultRule)),
      overrides: {
        rules: tiered(compiledRules.filter(isOverride)),
        inputRules: tiered(ownInputRules.filter(isOverride)),
        defaults: tiered(
          deciding.filter((each) => isWider(each) || each.default_decision === 'deny').map(toDefaultRule),
        ),
      },
      tenants: new Map(Object.entries(tenants).map(([name, tenant]) => [name, compileTenant(tenant)])),
      inputPolicy: { ...inputDefaults, ...inputPolicy },
      inputRules: tiered(ownInputRules.filter(isWider)),
      requireHuman: requireHuman ?? {},
      outputPolicy,
      outputOverride: compileOverrides(overrides),
      outputRules: outputRules.filter(({ rule }) => rule.enabled).map(({ rule }) => compileOutputRule(rule)),
    },
  });
}

/** Resolves the scope of a rule: its own tier and selector, else its document's. */
function place<T extends { tier?: Tier; selector?: Selector }>(
  document: PolicyDocument,
  rules: readonly T[],
): Sourced<T>[] {
  return rules.map((rule) => {
    const tier = rule.tier ?? document.tier;
    const inherited = tier === document.tier ? document.selector : undefined;
    return { rule, source: document.source, tier, selector: rule.selector ?? inherited ?? {} };
  });
}

const placeOutput = ({ source, output_rules }: PolicyDocument): Sourced<OutputRule>[] =>
  output_rules.map((rule) => ({ rule, source, tier: 'global', selector: {} }));

/** The set that rules of a source are searched in, undefined for the ordinary set. */
type SetOf = (source: string) => 'invariants' | 'velocity' | 'override' | undefined;

const searchSets =
  (mode: OverrideMode): SetOf =>
  (source) => {
    if (source === invariants) return 'invariants';
    if (isVelocityBundle(source)) return 'velocity';
    return mode === 'tighten' && isWorkflowOverride(source) ? 'override' : undefined;
  };

/**
 * A later rule replaces an earlier one with the same id only within its tier and selector: a job's policy cannot remove a
 * global rule by taking its id, and no other bundle can remove an invariant. An override that only tightens replaces no
 * rule but its own.
 */
function replaceSameIds<T extends { id: string }>(rules: readonly Sourced<T>[], setOf: SetOf): Sourced<T>[] {
  const byName = new Map<string, Sourced<T>>();
  for (const placed of rules) {
    const { source, tier, selector, rule } = placed;
    const set = setOf(source);
    const apart = set === 'velocity' ? undefined : set;
    byName.set(JSON.stringify([apart, tier, ...selectorKeys(selector), rule.id]), placed);
  }
  return [...byName.values()];
}

/** Overrides come last, so that a workflow's velocity rules never displace others from the licensed number. */
function withinLicence(
  rules: readonly PlacedRule[],
  max: number,
  setOf: SetOf,
): { kept: PlacedRule[]; ignored: string[] } {
  const all = rules.filter(({ rule }) => rule.velocity !== undefined);
  const isLast = ({ source }: PlacedRule) => setOf(source) === 'override';
  const velocity = [...all.filter((placed) => !isLast(placed)), ...all.filter(isLast)];
  const beyond = new Set(max < 0 ? [] : velocity.slice(max));
  return { kept: rules.filter((placed) => !beyond.has(placed)), ignored: [...beyond].map(({ rule }) => rule.id) };
}

/** The parts of a rule that enter the snapshot: of its source, only the part that decides the search order. */
const hashedIn =
  (setOf: SetOf) =>
  <T>({ rule, source, tier, selector }: Sourced<T>) => ({ rule, tier, selector, set: setOf(source) });

/** A rule for one job stays in the job tier, whatever its bundle: the early sets apply to every job. */
function compileRules(compiled: readonly (PlacedRule & { value: CompiledRule })[]) {
  const pick = (wanted: (rule: CompiledRule) => boolean) => compiled.map(({ value }) => value).filter(wanted);
  const isInvariant = ({ source, tier }: CompiledRule) => source === invariants && tier === 'global';
  // A velocity rule that only permits is searched with the ordinary rules: earlier it would lift their bans.
  const isVelocityBan = ({ source, tier, verdict }: CompiledRule) =>
    isVelocityBundle(source) && tier === 'global' && !isPermitting(verdict);
  const ordinary = tiered(compiled.filter(({ value }) => !isInvariant(value) && !isVelocityBan(value)));
  return {
    invariantBans: new RuleSet(pick((rule) => isInvariant(rule) && !isPermitting(rule.verdict))),
    velocityBans: new RuleSet(pick(isVelocityBan)),
    narrow: ordinary,
    global: new RuleSet(ordinary.global),
    invariantAllows: new RuleSet(pick((rule) => isInvariant(rule) && isPermitting(rule.verdict))),
  };
}

function tiered<T>(items: readonly { tier: Tier; selector: Selector; value: T }[]): Tiered<T> {
  const result = new Tiered<T>();
  for (const { tier, selector, value } of items) result.add(tier, selector, value);
  return result;
}

const toDefaultRule = ({ tier, selector, default_decision }: PolicyDocument) => ({
  tier, selector: selector ?? {}, value: default_decision ?? ('deny' as const),
}); // prettier-ignore

const compileTenant = ({ allow_topics, deny_topics, mcp }: MergedTenant): CompiledTenant => ({
  allowsTopic: allow_topics?.length ? anyGlob(allow_topics) : undefined,
  deniesTopic: anyGlob(deny_topics ?? []),
  mcpBreach: compileMcpLists(mcp ?? {}, { absentBreaches: false }),
});
