import { inFlightStates, isInFlight } from '@svc/lifecycle';
import { timeoutsFor } from '@svc/routing';
import type { JobRecord, MoveExtras } from '@svc/store';
import { deadlineFailure, failJob, type JobFailure, failAndStop } from '@svc/jobs';
import { entryPriority, queueEndsMs } from './queue-entry';
import { remainingRunMs, runtimeCap } from './place-job';
import type { SchedulingDeps } from './scheduling-deps';
import { toWorkflowStep } from '@svc/decision';

type RetryAfterMs = number | undefined;

/** Delay until a job is checked again while its worker's heartbeats cannot arrive. */
const RECHECK_MS = 1_000;
const MAX_GRACE_PERIODS = 10;

/**
 * The time of a job in flight is out. Progress is a sign of life that renews the running time, never the deadline nor what
 * policy allows. Safe to run twice: the second time-out is refused by the job table.
 * See docs/reference/jobs.md#deadlines-and-time-outs.
 *
 * While the bus is unreachable, and for a grace period after it or this process came back, a result may be under way: the
 * job is not ended unless its deadline has passed.
 */
export async function timeOutRunning(deps: SchedulingDeps, id: string): Promise<RetryAfterMs> {
  const job = await deps.store.jobs.load(id);
  if (!job || !isInFlight(job.state)) return undefined;
  const nowMs = deps.clock.nowMs();
  const bornMs = Math.max(job.progress_at ?? 0, job.dispatched_at ?? 0) / 1_000;
  const renewableMs = remainingRunMs(job, bornMs) - (nowMs - bornMs);
  const leftMs = Math.min(renewableMs, (job.dispatched_at ?? 0) / 1_000 + (runtimeCap(job) ?? Infinity) - nowMs);
  if (leftMs > 1) return leftMs;
  const byDeadline = job.deadline_ms > 0 && job.deadline_ms <= nowMs;
  if (!byDeadline && !(await isGraceOver(deps, job, bornMs))) return RECHECK_MS;
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
 * The grace period is kept with the job and counted in wall-clock time, so that schedulers which restart more often than it
 * lasts cannot prolong it. An outage of the bus voids it: results that workers hold back arrive only afterwards.
 *
 * @param bornMs last sign of life of the dispatch; an earlier grace period belonged to another time-out
 */
async function isGraceOver(deps: SchedulingDeps, job: JobRecord, bornMs: number): Promise<boolean> {
  const { store, registry, clock, resultsHandled } = deps;
  const nowMs = clock.nowMs();
  if (registry.hasReceivedAllSince((job.dispatched_at ?? 0) / 1_000, nowMs)) return true;
  const sinceMs = (job.overdue_at ?? 0) / 1_000;
  const isRunning = sinceMs > bornMs;
  if (registry.isBusConnected() && isRunning) {
    const tookMs = nowMs - sinceMs;
    // Results stored before this process started come first; a backlog that never empties does not block for ever.
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
  // How long a gate waits is for its run to say.
  if (job.approval.gate && !byDeadline) return undefined;
  const ending: JobFailure = byDeadline
    ? deadlineFailure
    : { event: 'deny', code: 'approval_expired', message: 'nobody decided in time', result: 'DENIED' };
  if (await failJob(deps, job, ending, buildResolution('expire', deps, job))) deps.events.approvalExpired();
  return undefined;
}

/**
 * Ends a gate whose run has ended, so that it cannot be resolved any more. Idempotent.
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

/** The approval of a job that people did not decide, if nobody does meanwhile. */
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
 * A job has waited for a worker as long as it may, or it is time to look at it again. Safe to run twice: a job that moved
 * on meanwhile is left alone.
 */
export async function recheckWaiting(deps: SchedulingDeps, id: string): Promise<RetryAfterMs> {
  const job = await deps.store.jobs.load(id);
  if (!job || job.parked !== 'jobWaiting') return undefined;
  const ending = findWaitFailure(deps, job);
  if (ending) return failAndStop(deps, job, ending);
  await deps.store.jobs.requeue(job, `recheck-${deps.clock.nowMs()}`, entryPriority(job));
  return undefined;
}

/** The time to wait is separate from the time to run. */
export const queueTimeoutFailure = ({ request, waiting_reason: why }: JobRecord): JobFailure => ({
  ...deadlineFailure,
  message: `timeout: no worker within its queue_ttl_ms of ${request.queue_ttl_ms ?? 0} ms (${why ?? 'no reason known'})`,
});

function findWaitFailure(deps: SchedulingDeps, job: JobRecord): JobFailure | undefined {
  const nowMs = deps.clock.nowMs();
  if (job.deadline_ms > 0 && job.deadline_ms <= nowMs) return deadlineFailure;
  if ((queueEndsMs(job) ?? Infinity) <= nowMs) return queueTimeoutFailure(job);
  const most = timeoutsFor(deps.fleet.timeouts(), job.topic, toWorkflowStep(job).workflow).maxPendingMs;
  return most !== undefined && nowMs - job.created_at / 1_000 >= most
    ? {
        ...deadlineFailure,
        message: `timeout: no worker within ${most / 1_000} s (${job.waiting_reason ?? 'no reason known'})`,
      }
    : undefined;
}
