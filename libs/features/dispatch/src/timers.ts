import { inFlightStates, isInFlight } from '@svc/lifecycle';
import { timeoutsFor } from '@svc/routing';
import type { JobRecord, MoveExtras } from '@svc/store';
import { deadlineFailure, failJob, type JobFailure, failAndStop } from '@svc/jobs';
import { delayToDeadline, entryPriority, queueEndsMs } from './queue-entry';
import { remainingRunMs, runtimeCap } from './place-job';
import type { SchedulingDeps } from './scheduling-deps';
import { toWorkflowStep } from '@svc/decision';

type RetryAfterMs = number | undefined;

/** Delay until an overdue job is checked again during its grace period. */
const RECHECK_MS = 1_000;
const MAX_GRACE_PERIODS = 10;
/** Delay until a job that waits for a limit is checked again. */
const RECHECK_BLOCKED_MS = 10 * 60_000;

/**
 * Times out an in-flight job. Progress renews the running time, but neither the deadline nor the limit set by policy. Safe
 * to repeat: the second time-out is refused by the job table.
 * See docs/reference/jobs.md#deadlines-and-time-outs.
 *
 * While the bus is unreachable, and for a grace period after it reconnects or this process starts, an unprocessed result may
 * exist: the job times out only if its deadline has passed.
 */
export async function timeOutRunning(deps: SchedulingDeps, id: string): Promise<RetryAfterMs> {
  const job = await deps.store.jobs.load(id);
  if (!job || !isInFlight(job.state)) return undefined;
  const nowMs = deps.clock.nowMs();
  const lastSignMs = Math.max(job.progress_at ?? 0, job.dispatched_at ?? 0) / 1_000;
  const renewableMs = remainingRunMs(job, lastSignMs) - (nowMs - lastSignMs);
  const leftMs = Math.min(renewableMs, (job.dispatched_at ?? 0) / 1_000 + (runtimeCap(job) ?? Infinity) - nowMs);
  if (leftMs > 1) return leftMs;
  const byDeadline = job.deadline_ms > 0 && job.deadline_ms <= nowMs;
  if (!byDeadline && !(await isGraceOver(deps, job, lastSignMs))) return RECHECK_MS;
  await failAndStop(deps, job, byDeadline ? deadlineFailure : runTimeoutFailure, {
    ...(job.dispatch_id && { dispatchId: job.dispatch_id }),
  });
  if (job.worker_id) {
    deps.registry.adjustActive(job.worker_id, -1);
    deps.wake(job.worker_id);
  }
  return undefined;
}

/**
 * The grace period is stored with the job in wall-clock time, so that frequent scheduler restarts cannot prolong it. A bus
 * outage restarts it, because workers deliver their buffered results only afterwards.
 *
 * @param lastSignMs last sign of life of the dispatch; an earlier grace period belonged to another time-out
 */
async function isGraceOver(deps: SchedulingDeps, job: JobRecord, lastSignMs: number): Promise<boolean> {
  const { store, registry, clock, resultsHandled } = deps;
  const nowMs = clock.nowMs();
  if (registry.hasReceivedAllSince((job.dispatched_at ?? 0) / 1_000, nowMs)) return true;
  const sinceMs = (job.overdue_at ?? 0) / 1_000;
  const isRunning = sinceMs > lastSignMs;
  if (registry.isBusConnected() && isRunning) {
    const tookMs = nowMs - sinceMs;
    // Results stored before this process started are handled first. Bounded, because a backlog may never empty.
    return tookMs >= registry.ttlMs && (tookMs >= MAX_GRACE_PERIODS * registry.ttlMs || (await resultsHandled()));
  }
  if (!registry.isBusConnected() && !isRunning) return false;
  const where = { states: inFlightStates, ...(job.dispatch_id && { dispatchId: job.dispatch_id }) };
  await store.jobs.note(job.id, where, { overdue_at: registry.isBusConnected() ? clock.nowUs() : 0 });
  return false;
}

const runTimeoutFailure: JobFailure = {
  event: 'timeOut',
  code: 'timeout',
  message: 'timeout: the worker did not answer in time',
  result: 'TIMEOUT',
  cancel: 'timeout',
};

/**
 * Ends an approval that expired, or whose job passed its deadline. Idempotent. See docs/reference/jobs.md#approvals.
 */
export async function expireApproval(deps: SchedulingDeps, id: string): Promise<RetryAfterMs> {
  const job = await deps.store.jobs.load(id);
  if (!job || job.state !== 'APPROVAL_REQUIRED' || job.approval?.status !== 'pending') return undefined;
  const byDeadline = job.deadline_ms > 0 && job.deadline_ms <= deps.clock.nowMs();
  // The timeout of an approval step is owned by its run.
  if (job.approval.gate && !byDeadline) return undefined;
  const ending: JobFailure = byDeadline
    ? deadlineFailure
    : { event: 'deny', code: 'approval_expired', message: 'no decision in time', result: 'DENIED' };
  if (await failJob(deps, job, ending, buildResolution('expire', deps, job))) deps.events.approvalExpired();
  return undefined;
}

/**
 * Invalidates a pending approval step whose run has ended. Idempotent.
 * See docs/reference/routing.md#repair.
 */
export async function voidApproval(deps: SchedulingDeps, job: JobRecord): Promise<void> {
  const ending: JobFailure = {
    event: 'deny',
    code: 'approval_invalidated',
    message: 'the workflow run has ended',
    result: 'DENIED',
  };
  await failAndStop(deps, job, ending, buildResolution('invalidate', deps, job));
}

/** Ends a pending approval without a resolution; guarded, so that a concurrent resolution wins. */
function buildResolution(
  decision: 'expire' | 'invalidate',
  { clock }: SchedulingDeps,
  { approval }: JobRecord,
): Pick<MoveExtras, 'guard' | 'set'> {
  if (!approval) return {};
  const revision = approval.revision + 1;
  return {
    guard: { approval: JSON.stringify(approval) },
    set: { approval: { ...approval, status: 'invalidated', decision, revision, resolved_at: clock.nowUs() } },
  };
}

/**
 * Fails a job that has reached its maximum waiting time, otherwise requeues it for another placement. Safe to repeat: no-op
 * for a job that no longer waits.
 */
export async function recheckWaiting(deps: SchedulingDeps, id: string): Promise<RetryAfterMs> {
  const job = await deps.store.jobs.load(id);
  if (!job || job.parked !== 'jobWaiting') return undefined;
  const ending = findWaitFailure(deps, job);
  if (ending) return failAndStop(deps, job, ending);
  // Routing is checked when its limit lets it through.
  if (job.blocked) return delayToDeadline(deps, job, RECHECK_BLOCKED_MS);
  await deps.store.jobs.requeue(job, `recheck-${deps.clock.nowMs()}`, entryPriority(job));
  return undefined;
}

/** `queue_ttl_ms` limits the waiting time, separately from the running time. */
export const queueTimeoutFailure = ({ request, waiting_reason: reason }: JobRecord): JobFailure => ({
  ...deadlineFailure,
  message: `timeout: no worker within its queue_ttl_ms of ${request.queue_ttl_ms ?? 0} ms (${reason ?? 'no reason known'})`,
});

function findWaitFailure(deps: SchedulingDeps, job: JobRecord): JobFailure | undefined {
  const nowMs = deps.clock.nowMs();
  if (job.deadline_ms > 0 && job.deadline_ms <= nowMs) return deadlineFailure;
  if ((queueEndsMs(job) ?? Infinity) <= nowMs) return queueTimeoutFailure(job);
  const maxPendingMs = timeoutsFor(deps.fleet.timeouts(), job.topic, toWorkflowStep(job).workflow).maxPendingMs;
  return maxPendingMs !== undefined && nowMs - job.created_at / 1_000 >= maxPendingMs
    ? {
        ...deadlineFailure,
        message: `timeout: no worker within ${maxPendingMs / 1_000} s (${job.waiting_reason ?? 'no reason known'})`,
      }
    : undefined;
}
