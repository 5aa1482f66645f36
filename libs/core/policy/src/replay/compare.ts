import { isStricter, type Verdict } from '../document/words';

/** A past decision and the one made now. */
export interface ReplayedJob {
  jobId: string;
  topic: string;
  tenant: string;
  original: Verdict;
  outcome: { kind: 'decided'; verdict: Verdict; ruleId: string; reason: string } | { kind: 'failed'; error: string };
}

export interface ReplayChange {
  job_id: string;
  topic: string;
  tenant: string;
  original_decision: Verdict;
  new_decision: Verdict;
  new_rule_id: string;
  new_reason: string;
  direction: 'escalated' | 'relaxed';
}

export interface ReplayReport {
  summary: {
    total_jobs: number;
    evaluated: number;
    escalated: number;
    relaxed: number;
    unchanged: number;
    errored: number;
  };
  /** By number of decisions; an empty id is the default decision of the policy. */
  rule_hits: { rule_id: string; decision: Verdict; count: number }[];
  /** In the order of the jobs. */
  changes: ReplayChange[];
  errors: { job_id: string; error: string }[];
}

/**
 * The differences between past decisions and those of a policy, and the rules that caused them.
 * See docs/reference/policy.md#replay.
 */
export function compareReplay(jobs: readonly ReplayedJob[]): ReplayReport {
  const changes: ReplayChange[] = [];
  const errors: ReplayReport['errors'] = [];
  const hits = new Map<string, ReplayReport['rule_hits'][number]>();
  for (const { jobId: job_id, topic, tenant, original, outcome } of jobs) {
    if (outcome.kind === 'failed') {
      errors.push({ job_id, error: outcome.error });
      continue;
    }
    const { verdict, ruleId: rule_id, reason } = outcome;
    const key = JSON.stringify([rule_id, verdict]);
    const hit = hits.get(key) ?? { rule_id, decision: verdict, count: 0 };
    hits.set(key, { ...hit, count: hit.count + 1 });
    if (verdict === original) continue;
    changes.push({
      job_id,
      topic,
      tenant,
      original_decision: original,
      new_decision: verdict,
      new_rule_id: rule_id,
      new_reason: reason,
      direction: isStricter(verdict, original) ? 'escalated' : 'relaxed',
    });
  }
  const evaluated = jobs.length - errors.length;
  const escalated = changes.filter(({ direction }) => direction === 'escalated').length;
  return {
    summary: {
      total_jobs: jobs.length,
      evaluated,
      escalated,
      relaxed: changes.length - escalated,
      unchanged: evaluated - changes.length,
      errored: errors.length,
    },
    rule_hits: [...hits.values()].sort((a, b) => b.count - a.count || (a.rule_id < b.rule_id ? -1 : 1)),
    changes,
    errors,
  };
}
