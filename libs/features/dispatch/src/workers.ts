import { jobCancelPacket, shorten, subjects, type Handshake, type Heartbeat, type JobProgress } from '@svc/contract';
import { isInFlight, isTerminal } from '@svc/lifecycle';
import { redactText } from '@svc/scanning';
import type { WorkerSnapshot } from '@svc/store';
import type { WorkerTrust } from '@svc/worker-trust';
import { dispatchIdentity } from '@svc/decision';
import { registerHeartbeat, renewWorker } from './register-heartbeat';
import { lacksRequiredDispatch, learnEcho } from './require-dispatch';
import { releaseJob, releaseLostJobs } from './release-jobs';
import type { SchedulingDeps } from './scheduling-deps';
import type { HeartbeatOutcome } from './worker-registry';

/**
 * Handles a worker's heartbeat. New workers beyond the license's limit are refused; known ones are refreshed.
 * See docs/reference/worker-protocol.md#heartbeat.
 */
export async function handleHeartbeat(deps: SchedulingDeps, senderId: string, beat: Heartbeat): Promise<void> {
  const outcome = await registerHeartbeat(deps, senderId, beat);
  if (!outcome) return;
  if (outcome.kind === 'new') deps.wakeNew(beat.worker_id);
  else if (outcome.freed) deps.wake(beat.worker_id);
  await Promise.all([renewWorker(deps, beat), compareJobs(deps, beat, outcome)]);
}

async function compareJobs(deps: SchedulingDeps, beat: Heartbeat, outcome: HeartbeatOutcome): Promise<void> {
  await cancelEnded(deps, beat);
  await releaseLostJobs(deps, beat, outcome);
}

/**
 * Repeats the cancel for ended jobs that a worker still lists, on each heartbeat until it stops them: the first cancel may
 * have been lost while the worker was disconnected. Jobs now assigned to another worker are skipped, because a cancel is
 * broadcast to all workers.
 */
async function cancelEnded(deps: SchedulingDeps, { worker_id: worker, running_jobs: ids }: Heartbeat): Promise<void> {
  if (ids.length === 0) return;
  const strays = await deps.store.workers.notHeld(worker, ids.slice(0, MAX_LISTED));
  for (const job of await deps.store.index.records(strays)) {
    const endedUs = job.completed_at ?? deps.clock.nowUs();
    if (job.worker_id !== worker || !isTerminal(job.state) || deps.clock.nowUs() - endedUs < CANCEL_GRACE_US) continue;
    const head = { trace_id: job.trace_id, sender_id: deps.senderId, nowUs: deps.clock.nowUs() };
    const cancel = {
      job_id: job.id,
      reason: `job is ${job.state}`,
      requested_by: deps.senderId,
      dispatch: dispatchIdentity(job),
    };
    await deps.bus.publish(subjects.jobCancel.name, jobCancelPacket(head, cancel));
  }
}

const MAX_LISTED = 256;
/** A heartbeat may list a job that ended just before it was sent. */
const CANCEL_GRACE_US = 2_000_000;

export function handleHandshake(deps: SchedulingDeps, senderId: string, shake: Handshake): void {
  deps.registry.handshake(senderId, shake, deps.clock.nowMs());
  if (deps.registry.freeSlots(shake.component_id) > 0) deps.wake(shake.component_id);
}

/**
 * Stores the last progress of a job, which renews its running time. Progress counts only from the assigned worker and for
 * the current dispatch; a worker known to send dispatch ids must include one.
 */
export async function handleProgress(deps: SchedulingDeps, senderId: string, progress: JobProgress): Promise<void> {
  const { dispatch_id: dispatchId = '', assigned_worker_id: assigned = '' } = progress.dispatch ?? {};
  if (assigned !== '' && assigned !== senderId) return;
  if (await lacksRequiredDispatch(deps, 'progress', senderId, progress)) return;
  const at = deps.clock.nowUs();
  const percent = Math.min(100, Math.max(0, progress.percent));
  // Readers and stream clients see the message.
  const message = redactText(shorten(progress.message, 1_000));
  const isLogged = deps.reports.allow(senderId, progress.job_id, message.length);
  const noted = await deps.store.jobs.note(
    progress.job_id,
    {
      states: ['DISPATCHED', 'RUNNING'],
      holder: senderId,
      dispatchId,
      ...(isLogged && { event: JSON.stringify({ kind: 'progress', at, percent, message }) }),
    },
    {
      progress_percent: percent,
      progress_message: message,
      progress_at: at,
    },
  );
  if (!noted || !progress.dispatch?.dispatch_id) return;
  deps.registry.setNamesInProgress(senderId);
  await learnEcho(deps, senderId, progress.dispatch);
}

/** Releases the jobs of silent workers: each is retried or failed, as after a retryable failure. */
export async function sweepSilentWorkers(deps: SchedulingDeps): Promise<void> {
  const { registry, clock } = deps;
  if (registry.silent(clock.nowMs()).length === 0) return;
  // A hung bus keeps its connections, and a suspended process has unread messages. A reply from the bus now arrives after
  // every heartbeat sent before it.
  if (!(await deps.busAnswers())) {
    registry.busConnected(clock.nowMs());
    return;
  }
  for (const workerId of registry.expire(clock.nowMs())) await releaseLostWorker(deps, workerId);
}

/** Safe to repeat and to run on several replicas: each job moves once, guarded by its worker. */
export async function releaseLostWorker(deps: SchedulingDeps, workerId: string): Promise<void> {
  const ids = await deps.store.workers.inFlight(workerId);
  await deps.store.workers.removeLiveWorker(workerId);
  deps.events.workerLost(workerId, ids.length);
  for (const job of await deps.store.index.records(ids)) {
    if (isInFlight(job.state)) await releaseJob(deps, job, workerId, `worker ${workerId} went silent`);
  }
}

/**
 * Takes away the jobs of a worker whose credential or session was revoked: it is asked to stop them, and they are retried or
 * failed at once, since its results do not count any more. Safe to repeat and to run on several replicas.
 */
export async function releaseRevokedWorker(deps: SchedulingDeps, workerId: string): Promise<void> {
  deps.registry.remove(workerId);
  const { store, clock, bus, senderId } = deps;
  const jobs = await store.index.records(await store.workers.inFlight(workerId));
  for (const job of jobs) {
    if (job.worker_id !== workerId || !isInFlight(job.state)) continue;
    const head = { trace_id: job.trace_id, sender_id: senderId, nowUs: clock.nowUs() };
    const cancel = {
      job_id: job.id,
      reason: 'the worker may not run jobs any more',
      requested_by: senderId,
      dispatch: dispatchIdentity(job),
    };
    await bus.publish(subjects.jobCancel.name, jobCancelPacket(head, cancel));
  }
  await releaseLostWorker(deps, workerId);
}

/** Builds the shared snapshot that the gateway and restarted schedulers read. */
export function buildWorkerSnapshot(
  deps: Pick<SchedulingDeps, 'registry' | 'clock' | 'senderId'> & { trust: Pick<WorkerTrust, 'describe'> },
): WorkerSnapshot {
  const workers = deps.registry.records().map((worker) => ({ ...worker, ...deps.trust.describe(worker.worker_id) }));
  const pools: WorkerSnapshot['pools'] = {};
  for (const { pool, active_jobs, max_parallel_jobs } of workers) {
    const sum = (pools[pool] ??= { workers: 0, active_jobs: 0, capacity: 0 });
    sum.workers += 1;
    sum.active_jobs += active_jobs;
    sum.capacity += max_parallel_jobs;
  }
  return { captured_at: new Date(deps.clock.nowMs()).toISOString(), writer_id: deps.senderId, pools, workers };
}
