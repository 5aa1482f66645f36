import type { Owner } from '@svc/contract';
import { toUsd } from '@svc/policy';
import type { OverBudget } from '@svc/store';
import { budgetMessage, mayFreeBudget } from '@svc/budget';
import { iso, type JobFacts, getStage } from './job-facts';
import { blocked, type CheckResult, notReached, passed } from './run-job-checks';

export const budgetOwner = ({ limit, amount }: OverBudget): Owner => ({
  kind: 'setting',
  id: `budget.${limit}`,
  value: toUsd(amount),
});

/** Whether its cost is reserved, which happens before the dispatch. ADR 0011. */
export function checkBudget({ job, position }: JobFacts): CheckResult {
  const { over_budget: over, waiting_reason: why } = job;
  if (job.reserved) return passed('its maximum cost is reserved');
  if (getStage(job) !== 'queued')
    return job.attempts > 0 || job.lane !== '' || job.blocked
      ? passed('no budget is set')
      : notReached('policy has not allowed it yet');
  if (why !== 'budget' || !over) return notReached('the budget is checked after policy allows it');
  const { dueMs } = position.entry;
  return blocked({
    kind: 'budget',
    what: budgetMessage(over),
    owner: budgetOwner(over),
    how: mayFreeBudget(over)
      ? 'running work must end and cost less than it reserved, or the limit must be raised'
      : 'its period must end, or the limit must be raised',
    since: iso(job.updated_at / 1_000),
    clears_at: over.ends_ms === undefined ? null : iso(over.ends_ms),
    ...(dueMs !== undefined && { next_try_at: iso(dueMs) }),
  });
}
