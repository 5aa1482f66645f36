import type { Constraints, Remediation, Rule, Selector } from '../document/policy-document';
import { isPermitting, toVerdict, type Tier, type Verdict } from '../document/words';
import { compileMatch, type Condition } from './conditions';
import { durationMs } from './duration';
import type { Facts } from './facts';
import { anyGlob, fold, literalPrefix, type TextTest } from './glob';
import { compileVelocityKey } from './velocity-key';

/** A rule after the merge, with its source and scope. */
export interface PlacedRule {
  rule: Rule;
  source: string;
  tier: Tier;
  selector: Selector;
}

export interface CompiledRule {
  id: string;
  source: string;
  tier: Tier;
  verdict: Verdict;
  reason: string;
  throttleMs: number | undefined;
  constraints: Constraints | undefined;
  remediations: readonly Remediation[];
  conditions: readonly Condition[];
  /** Sections in which a permitting rule is considered. A denying rule applies in every section. */
  section: { exactTopics: ReadonlySet<string>; speaksOfMcp: boolean };
  velocity: CompiledVelocity | undefined;
  /** Absent: it applies to every topic. `prefixes`: a topic must start with one of these to match a pattern. */
  topics: { fit: TextTest; prefixes: readonly string[] } | undefined;
}

export interface CompiledVelocity {
  maxRequests: number;
  windowSeconds: number;
  key: (facts: Facts) => string | undefined;
}

export function compileRule({ rule, source, tier }: PlacedRule): CompiledRule {
  const topics = rule.match?.topics ?? [];
  return {
    id: rule.id,
    source,
    tier,
    verdict: toVerdict(rule.decision),
    reason: rule.reason ?? `matched rule ${rule.id}`,
    throttleMs: rule.throttle_duration === undefined ? undefined : durationMs(rule.throttle_duration),
    constraints: rule.constraints,
    remediations: rule.remediations ?? [],
    conditions: compileMatch(rule.match),
    section: { exactTopics: new Set(topics.map(fold)), speaksOfMcp: rule.match?.mcp !== undefined },
    velocity: rule.velocity && compileVelocity(rule.velocity),
    topics: topics.length > 0 ? { fit: anyGlob(topics), prefixes: topics.map(literalPrefix) } : undefined,
  };
}

/** An invalid key is rejected with the document; if one gets here, the rule is always skipped. */
function compileVelocity({ max_requests, window_seconds, key }: NonNullable<Rule['velocity']>): CompiledVelocity {
  return {
    maxRequests: max_requests,
    windowSeconds: window_seconds,
    key: compileVelocityKey(key) ?? (() => undefined),
  };
}

const edgeTopic = 'job.edge.action';

/** Whether a rule is considered for this request at all. See docs/reference/policy.md#scopes. */
export function isInSection({ verdict, section }: CompiledRule, facts: Facts): boolean {
  if (!isPermitting(verdict)) return true;
  if (facts.topic === edgeTopic) return section.exactTopics.has(edgeTopic);
  return section.speaksOfMcp === (facts.mcp !== undefined);
}
