import type { Blocker, ExplainCheck, JobBlocker, JobCheck, Owner } from '@svc/contract';
import type { JobFacts } from './job-facts';

/** Result of one check on a job. */
export type CheckResult =
  | { kind: 'passed'; detail: string; owner?: Owner }
  | { kind: 'not_reached'; detail: string; owner?: Owner }
  | { kind: 'blocked'; blocker: Blocker<JobBlocker> }
  /** Not reached yet; will block as of now. */
  | { kind: 'ahead'; blocker: Blocker<JobBlocker> };

export interface JobCheckEntry {
  check: JobCheck;
  run(facts: JobFacts): CheckResult;
}

export const passed = (detail: string, owner?: Owner): CheckResult => ({
  kind: 'passed',
  detail,
  ...(owner && { owner }),
});
export const notReached = (detail: string, owner?: Owner): CheckResult => ({
  kind: 'not_reached',
  detail,
  ...(owner && { owner }),
});
export const blocked = (blocker: Blocker<JobBlocker>): CheckResult => ({ kind: 'blocked', blocker });

/** Runs every check: the first blocker, and each check with its outcome. */
export function runJobChecks(
  entries: readonly JobCheckEntry[],
  facts: JobFacts,
): { blockedBy: Blocker<JobBlocker> | null; checks: ExplainCheck<JobCheck>[] } {
  let blockedBy: Blocker<JobBlocker> | null = null;
  const checks = entries.map(({ check, run }): ExplainCheck<JobCheck> => {
    const result = run(facts);
    if (result.kind === 'passed' || result.kind === 'not_reached') {
      const { kind: outcome, ...rest } = result;
      return { check, outcome, ...rest };
    }
    const { what: detail, owner } = result.blocker;
    const isFirst = result.kind === 'blocked' && blockedBy === null;
    if (isFirst) blockedBy = result.blocker;
    return { check, outcome: isFirst ? 'blocks' : 'would_block', detail, owner };
  });
  return { blockedBy, checks };
}
