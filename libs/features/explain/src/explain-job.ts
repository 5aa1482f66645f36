import type { Blocker, EndedBy, HeldBy, JobBlocker, JobExplanation } from '@svc/contract';
import { endedByOf, givesUpOf, heldByOf } from './job-ending';
import { iso, type JobFacts, stageOf } from './job-facts';
import { type JobLook, walk } from './run-job-checks';
import { lookAtBudget } from './check-budget';
import { lookAtApproval, lookAtPolicy, lookAtPolicyService } from './check-policy';
import { lookAtAttempts, lookAtDeadline, lookAtDispatch, lookAtQueue, lookAtResult, lookAtTopic } from './check-queue';
import {
  lookAtLicenseLimit,
  lookAtPool,
  lookAtSlots,
  lookAtTenantLimit,
  lookAtTurn,
  lookAtWorkers,
} from './check-routing';

/** In the order in which the schedulers do it. See docs/architecture.md#the-path-of-a-job. */
const looks: readonly JobLook[] = [
  { check: 'queue', look: lookAtQueue },
  { check: 'deadline', look: lookAtDeadline },
  { check: 'scheduling_limit', look: lookAtAttempts },
  { check: 'topic', look: lookAtTopic },
  { check: 'policy_service', look: lookAtPolicyService },
  { check: 'policy', look: lookAtPolicy },
  { check: 'approval', look: lookAtApproval },
  { check: 'budget', look: lookAtBudget },
  { check: 'pool', look: lookAtPool },
  { check: 'worker', look: lookAtWorkers },
  { check: 'slots', look: lookAtSlots },
  { check: 'tenant_limit', look: lookAtTenantLimit },
  { check: 'license_limit', look: lookAtLicenseLimit },
  { check: 'turn', look: lookAtTurn },
  { check: 'dispatch', look: lookAtDispatch },
  { check: 'result', look: lookAtResult },
];

/** Why a job is where it is: a pure function of the facts, which are of one moment. */
export function explainJob(facts: JobFacts): JobExplanation {
  const { job, nowMs } = facts;
  const { blockedBy, checks } = walk(looks, facts);
  const heldBy = heldByOf(facts);
  const endedBy = endedByOf(facts);
  return {
    job_id: job.id,
    state: job.state,
    summary: summaryOf(facts, { blockedBy, heldBy, endedBy }),
    blocked_by: blockedBy,
    checks,
    gives_up: givesUpOf(facts),
    explained_at: iso(nowMs),
    ...(heldBy && { held_by: heldBy }),
    ...(endedBy && { ended_by: endedBy }),
  };
}

interface Told {
  blockedBy: Blocker<JobBlocker> | null;
  heldBy: HeldBy | undefined;
  endedBy: EndedBy | undefined;
}

function summaryOf({ job }: JobFacts, { blockedBy, heldBy, endedBy }: Told): string {
  if (endedBy) return `It ended ${job.state}: ${endedBy.what}.`;
  if (blockedBy) return `It waits: ${blockedBy.what}.`;
  if (heldBy) return `It runs with ${heldBy.worker_id} since ${heldBy.since}.`;
  if (stageOf(job) === 'queued') return 'A scheduler decides about it now.';
  const last = job.waiting_reason ? `; the last look found ${job.waiting_reason}` : '';
  return `Nothing is in its way any more: the next look gives it out${last}.`;
}
