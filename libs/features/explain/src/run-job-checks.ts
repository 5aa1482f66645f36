import type { Blocker, ExplainCheck, JobBlocker, JobCheck, Owner } from '@svc/contract';
import type { JobFacts } from './job-facts';

/** What one look at a job found. */
export type Look =
  | { kind: 'passed'; detail: string; owner?: Owner }
  | { kind: 'not_reached'; detail: string; owner?: Owner }
  | { kind: 'blocked'; blocker: Blocker<JobBlocker> }
  /** Nothing it has met yet, but it will, as things stand now. */
  | { kind: 'ahead'; blocker: Blocker<JobBlocker> };

export interface JobLook {
  check: JobCheck;
  look(facts: JobFacts): Look;
}

export const passed = (detail: string, owner?: Owner): Look => ({ kind: 'passed', detail, ...(owner && { owner }) });
export const notReached = (detail: string, owner?: Owner): Look => ({
  kind: 'not_reached',
  detail,
  ...(owner && { owner }),
});
export const blocked = (blocker: Blocker<JobBlocker>): Look => ({ kind: 'blocked', blocker });

/** The first thing that blocks, and every check with its outcome. */
export function walk(
  looks: readonly JobLook[],
  facts: JobFacts,
): { blockedBy: Blocker<JobBlocker> | null; checks: ExplainCheck<JobCheck>[] } {
  let blockedBy: Blocker<JobBlocker> | null = null;
  const checks = looks.map(({ check, look }): ExplainCheck<JobCheck> => {
    const found = look(facts);
    if (found.kind === 'passed' || found.kind === 'not_reached') {
      const { kind: outcome, ...rest } = found;
      return { check, outcome, ...rest };
    }
    const { what: detail, owner } = found.blocker;
    const isFirst = found.kind === 'blocked' && blockedBy === null;
    if (isFirst) blockedBy = found.blocker;
    return { check, outcome: isFirst ? 'blocks' : 'would_block', detail, owner };
  });
  return { blockedBy, checks };
}
