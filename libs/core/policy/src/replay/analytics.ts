import { compileGlob, fold } from '../compile/glob';

/** A rule's decision about a job, and its approval. */
export interface RuleHit {
  ruleId: string;
  decidedAtMs: number;
  /** The rule held the job for approval. */
  isHeld: boolean;
  /** Time of the approval, ms; undefined when it was not approved. */
  approvedAtMs: number | undefined;
}

export interface RuleAnalytics {
  rule_id: string;
  hit_count: number;
  approval_count: number;
  override_count: number;
  /** Share of held jobs that were approved; three decimals. */
  override_rate: number;
  avg_approval_latency_ms: number;
  /** One count per 24 hours from the start. */
  daily_hits: number[];
}

export interface AnalyticsReport {
  rules: RuleAnalytics[];
  summary: { total_rules: number; total_hits: number; total_overrides: number; highest_override_rule_id: string };
}

const dayMs = 86_400_000;

/**
 * Decisions per rule, and approvals of the jobs it held. See docs/reference/policy.md#replay.
 *
 * @param ruleFilter an id, or a glob of ids; empty: all
 */
export function analyseRules(
  hits: readonly RuleHit[],
  { fromMs, toMs, ruleFilter = '' }: { fromMs: number; toMs: number; ruleFilter?: string },
): AnalyticsReport {
  const isWanted = ruleFilter === '' ? () => true : compileGlob(ruleFilter);
  const counted = hits.filter(
    ({ ruleId, decidedAtMs }) => decidedAtMs >= fromMs && decidedAtMs <= toMs && isWanted(fold(ruleId)),
  );
  const byRule = new Map<string, RuleHit[]>();
  for (const hit of counted) byRule.set(hit.ruleId, [...(byRule.get(hit.ruleId) ?? []), hit]);
  const days = Math.max(1, Math.ceil((toMs - fromMs) / dayMs));
  const rules = [...byRule].map(([id, own]) => ruleAnalytics(id, own, fromMs, days));
  const byRate = rules
    .filter(({ override_count }) => override_count > 0)
    .sort((a, b) => b.override_rate - a.override_rate || b.override_count - a.override_count);
  return {
    rules: rules.sort((a, b) => b.hit_count - a.hit_count || (a.rule_id < b.rule_id ? -1 : 1)),
    summary: {
      total_rules: rules.length,
      total_hits: counted.length,
      total_overrides: rules.reduce((sum, { override_count }) => sum + override_count, 0),
      highest_override_rule_id: byRate[0]?.rule_id ?? '',
    },
  };
}

function ruleAnalytics(rule_id: string, hits: readonly RuleHit[], fromMs: number, days: number): RuleAnalytics {
  const held = hits.filter(({ isHeld }) => isHeld);
  const latencies = held.flatMap(({ approvedAtMs, decidedAtMs }) =>
    approvedAtMs === undefined ? [] : [Math.max(0, approvedAtMs - decidedAtMs)],
  );
  const daily = Array<number>(days).fill(0);
  for (const { decidedAtMs } of hits) {
    const day = Math.min(days - 1, Math.floor((decidedAtMs - fromMs) / dayMs));
    daily[day] = (daily[day] ?? 0) + 1;
  }
  const total = latencies.reduce((sum, ms) => sum + ms, 0);
  return {
    rule_id,
    hit_count: hits.length,
    approval_count: held.length,
    override_count: latencies.length,
    override_rate: held.length === 0 ? 0 : Math.round((latencies.length / held.length) * 1_000) / 1_000,
    avg_approval_latency_ms: latencies.length === 0 ? 0 : Math.round(total / latencies.length),
    daily_hits: daily,
  };
}
