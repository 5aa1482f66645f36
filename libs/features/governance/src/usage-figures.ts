import type { UsageFigures, UsageGroupView } from '@svc/contract';

/** A job, as far as its cost and risk are counted. */
export interface CountedJob {
  /** Agent, team or topic; empty = none. */
  key: string;
  state: string;
  isHeld: boolean;
  costUsd: number;
}

const weights = { denied: 1, quarantined: 1, held: 0.5, failed: 0.25 } as const;

/** Cost and risk of jobs. See docs/reference/governance.md#cost-and-risk. */
export function sumUsage(jobs: readonly CountedJob[]): UsageFigures {
  const inState = (...states: string[]) => jobs.filter(({ state }) => states.includes(state)).length;
  const counts = {
    denied: inState('DENIED'),
    quarantined: inState('OUTPUT_QUARANTINED'),
    // A denied job counts as denied only.
    held: jobs.filter(({ isHeld, state }) => isHeld && state !== 'DENIED').length,
    failed: inState('FAILED', 'TIMEOUT'),
  };
  const { denied, quarantined, held, failed } = counts;
  const adverse = denied * weights.denied + quarantined * weights.quarantined + held * weights.held + failed * weights.failed; // prettier-ignore
  return {
    jobs: jobs.length,
    succeeded: inState('SUCCEEDED'),
    ...counts,
    cost_usd: Math.round(jobs.reduce((sum, { costUsd }) => sum + costUsd, 0) * 1e6) / 1e6,
    risk_score: jobs.length === 0 ? null : Math.min(100, Math.round((adverse / jobs.length) * 1_000) / 10),
  };
}

/** The same by key: highest cost first, then most jobs. */
export function groupUsage(jobs: readonly CountedJob[], limit: number): UsageGroupView[] {
  const groups = new Map<string, CountedJob[]>();
  for (const job of jobs) {
    const group = groups.get(job.key);
    if (group) group.push(job);
    else groups.set(job.key, [job]);
  }
  return [...groups]
    .map(([key, own]) => ({ key, ...sumUsage(own) }))
    .sort((a, b) => b.cost_usd - a.cost_usd || b.jobs - a.jobs || (a.key < b.key ? -1 : 1))
    .slice(0, limit);
}
