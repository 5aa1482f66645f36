import type { Heartbeat } from '@svc/contract';
import type { JobRecord } from '@svc/store';
import { retryOrFail } from './handle-result';
import { isLost } from './absent-jobs';
import type { SchedulingDeps } from './scheduling-deps';
import type { HeartbeatOutcome } from './worker-registry';

/** Jobs compared with one heartbeat; the others follow with the next. */
const maxCompared = 512;

/** Retries a job that its worker has lost. Safe to repeat: guarded by worker and dispatch. */
export async function releaseJob(
  deps: SchedulingDeps,
  job: JobRecord,
  workerId: string,
  reason: string,
): Promise<boolean> {
  if (job.worker_id !== workerId) return false;
  const failure = { status: 'FAILED_RETRYABLE', code: 'worker_lost', message: reason } as const;
  const before = { holder: workerId, ...(job.dispatch_id && { dispatchId: job.dispatch_id }) };
  if (!(await retryOrFail(deps, job, failure, before))) return false;
  // Otherwise a durable consumer redelivers it after its ack wait. A crash here is harmless: that result is ignored.
  if (job.dispatch_seq) await deps.withdrawDispatch(job.dispatch_seq);
  return true;
}

/**
 * Releases the jobs recorded with a worker that its heartbeat shows it has lost: its process was replaced, or its
 * heartbeats no longer count them. A dispatch under way is protected by the time for which a job has to be absent, a result
 * under way by handling all stored results first. See docs/reference/worker-protocol.md#heartbeat.
 */
export async function releaseLostJobs(deps: SchedulingDeps, beat: Heartbeat, outcome: HeartbeatOutcome): Promise<void> {
  const { store, clock, registry } = deps;
  const { worker_id: workerId } = beat;
  if (outcome.replacedAtMs === undefined && !registry.startComparison(workerId, clock.nowMs())) return;
  const ids = await store.workers.inFlightSoon(workerId);
  const unlisted = ids.filter((id) => !beat.running_jobs.includes(id)).slice(0, maxCompared);
  const absence = registry.absence(beat, unlisted, outcome, clock.nowMs());
  const suspects = outcome.replacedAtMs === undefined ? [...absence.sinceMs.keys()] : unlisted;
  const lost = (await runningWith(deps, workerId, suspects)).filter((job) => isLost(job, absence, clock.nowMs()));
  if (lost.length === 0 || !(await deps.resultsHandled())) return;
  let released = 0;
  const lostIds = lost.map(({ id }) => id);
  for (const job of await runningWith(deps, workerId, lostIds)) {
    const isSame = lost.some(({ dispatch_id }) => dispatch_id === job.dispatch_id);
    if (isSame && (await releaseJob(deps, job, workerId, `worker ${workerId} no longer has it`))) released += 1;
  }
  if (released === 0) return;
  deps.events.jobsLost(workerId, released);
  deps.wake(workerId);
}

/** Excludes DISPATCHED jobs, whose publish is not confirmed yet. */
async function runningWith({ store }: SchedulingDeps, workerId: string, ids: readonly string[]): Promise<JobRecord[]> {
  const jobs = await store.index.records(ids);
  return jobs.filter(({ state, worker_id }) => state === 'RUNNING' && worker_id === workerId);
}
