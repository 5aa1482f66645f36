import type { Blocker, EndedBy, HeldBy, JobBlocker, JobExplanation } from '@svc/contract';
import { explainEnd, findGiveUp, findHolder } from './job-ending';
import { iso, type JobFacts, getStage } from './job-facts';
import { type JobCheckEntry, runJobChecks } from './run-job-checks';
import { checkJobAgent, describeAgent } from './check-agent';
import { checkBudget } from './check-budget';
import { checkLimits } from './check-limits';
import { checkApproval, checkPolicy, checkPolicyService } from './check-policy';
import { checkAttempts, checkDeadline, checkDispatch, checkQueue, checkResult, checkTopic } from './check-queue';
import { checkLicenseLimit, checkPool, checkSlots, checkTenantLimit, checkTurn, checkWorkers } from './check-routing';

/** In the order of the schedulers. See docs/architecture.md#the-path-of-a-job. */
const jobChecks: readonly JobCheckEntry[] = [
  { check: 'queue', run: checkQueue },
  { check: 'deadline', run: checkDeadline },
  { check: 'scheduling_limit', run: checkAttempts },
  { check: 'topic', run: checkTopic },
  { check: 'agent', run: checkJobAgent },
  { check: 'policy_service', run: checkPolicyService },
  { check: 'policy', run: checkPolicy },
  { check: 'approval', run: checkApproval },
  { check: 'budget', run: checkBudget },
  { check: 'limits', run: checkLimits },
  { check: 'pool', run: checkPool },
  { check: 'worker', run: checkWorkers },
  { check: 'slots', run: checkSlots },
  { check: 'tenant_limit', run: checkTenantLimit },
  { check: 'license_limit', run: checkLicenseLimit },
  { check: 'turn', run: checkTurn },
  { check: 'dispatch', run: checkDispatch },
  { check: 'result', run: checkResult },
];

/** Explains the state of a job. Pure: depends only on a snapshot of facts. */
export function explainJob(facts: JobFacts): JobExplanation {
  const { job, nowMs } = facts;
  const { blockedBy, checks } = runJobChecks(jobChecks, facts);
  const heldBy = findHolder(facts);
  const endedBy = explainEnd(facts);
  const agent = describeAgent(facts);
  return {
    job_id: job.id,
    state: job.state,
    summary: summarize(facts, { blockedBy, heldBy, endedBy }),
    blocked_by: blockedBy,
    checks,
    gives_up: findGiveUp(facts),
    explained_at: iso(nowMs),
    ...(heldBy && { held_by: heldBy }),
    ...(endedBy && { ended_by: endedBy }),
    ...(agent && { agent }),
  };
}

interface Findings {
  blockedBy: Blocker<JobBlocker> | null;
  heldBy: HeldBy | undefined;
  endedBy: EndedBy | undefined;
}

function summarize({ job }: JobFacts, { blockedBy, heldBy, endedBy }: Findings): string {
  if (endedBy) return `It ended ${job.state}: ${endedBy.what}.`;
  if (blockedBy) return `It waits: ${blockedBy.what}.`;
  if (heldBy) return `It has been running on ${heldBy.worker_id} since ${heldBy.since}.`;
  if (getStage(job) === 'queued') return 'A scheduler is processing it now.';
  const last = job.waiting_reason ? `; the last attempt found ${job.waiting_reason}` : '';
  return `Nothing blocks it: it will be dispatched at the next attempt${last}.`;
}
