import { isStricter, type Verdict } from '../document/words';

/** How a decision compares with the expected one. */
export type EvalStatus = 'pass' | 'fail' | 'regression' | 'error';

/** The change from the expected to the actual decision. */
export type DriftDirection = 'escalated' | 'relaxed' | 'unchanged';

/** The decision of a policy on an entry of a dataset, or the reason that there is none. */
export type EntryOutcome =
  { kind: 'decided'; verdict: Verdict; ruleId: string; reason: string } | { kind: 'failed'; error: string };

export interface EntryScore {
  status: EvalStatus;
  /** Absent when there is no decision. */
  direction?: DriftDirection;
}

export interface EvalSummary {
  total: number;
  passed: number;
  failed: number;
  regressions: number;
  errored: number;
  /** passed / total × 100, two decimals; null without entries. */
  score_percent: number | null;
}

/**
 * Compares a decision with the expected one. A regression permits without constraints what should not be; every other
 * difference is a failure. See docs/reference/evals.md#scores.
 */
export function scoreEntry(expected: Verdict, outcome: EntryOutcome): EntryScore {
  if (outcome.kind === 'failed') return { status: 'error' };
  const { verdict } = outcome;
  const direction = driftDirection(expected, verdict);
  if (verdict === expected) return { status: 'pass', direction };
  return { status: verdict === 'ALLOW' ? 'regression' : 'fail', direction };
}

/** Whether the second decision is stricter or less strict than the first. */
export function driftDirection(from: Verdict, to: Verdict): DriftDirection {
  if (from === to) return 'unchanged';
  return isStricter(to, from) ? 'escalated' : 'relaxed';
}

/** Counts by status. Entries without a decision count as not passed. */
export function summarizeScores(scores: readonly Pick<EntryScore, 'status'>[]): EvalSummary {
  const count = (wanted: EvalStatus) => scores.filter(({ status }) => status === wanted).length;
  const [total, passed] = [scores.length, count('pass')];
  return {
    total,
    passed,
    failed: count('fail'),
    regressions: count('regression'),
    errored: count('error'),
    score_percent: total === 0 ? null : Math.round((passed / total) * 10_000) / 100,
  };
}
