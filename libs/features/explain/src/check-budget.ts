import type { Owner } from '@svc/contract';
import { toUsd } from '@svc/policy';
import type { OverBudget } from '@svc/store';
import { budgetMessage, mayGiveBack } from '@svc/budget';
import { iso, type JobFacts, stageOf } from './job-facts';
import { blocked, type Look, notReached, passed } from './run-job-checks';

export const budgetOwner = ({ limit, amount }: OverBudget): Owner => ({
  kind: 'setting',
  id: `budget.${limit}`,
  value: toUsd(amount),
});

/** Money, which an allowed job reserves before it goes to a worker. ADR 0011. */
export function lookAtBudget({ job, standing }: JobFacts): Look {
  const { over_budget: over, waiting_reason: why } = job;
  if (job.reserved) return passed('what it may cost is reserved');
  if (stageOf(job) !== 'queued')
    return job.attempts > 0 || job.lane !== '' ? passed('no budget is set') : notReached('it is not allowed yet');
  if (why !== 'budget' || !over) return notReached('its budget is asked once it is allowed');
  const { dueMs } = standing.entry;
  return blocked({
    kind: 'budget',
    what: budgetMessage(over),
    owner: budgetOwner(over),
    how: mayGiveBack(over)
      ? 'work under way must end and cost less than it reserved, or the limit must be raised'
      : 'its period must end, or the limit must be raised',
    since: iso(job.updated_at / 1_000),
    clears_at: over.ends_ms === undefined ? null : iso(over.ends_ms),
    ...(dueMs !== undefined && { next_try_at: iso(dueMs) }),
  });
}
