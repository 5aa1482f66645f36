import { jobCancelPacket, subjects, type Handshake, type Heartbeat, type JobProgress } from '@svc/contract';
import { isInFlight, isTerminal } from '@svc/lifecycle';
import type { WorkerSnapshot } from '@svc/store';
import { dispatchIdentity } from '@svc/decision';
import { registerHeartbeat } from './register-heartbeat';
import { lacksRequiredDispatch, learnEcho } from './require-dispatch';
import { releaseJob, releaseLostJobs } from './release-jobs';
import type { SchedulingDeps } from './scheduling-deps';

/**
 * Handles a worker's heartbeat. New workers beyond the license's limit are refused; known ones are refreshed.
 * See docs/reference/worker-protocol.md#heartbeat.
 */
export async function hearHeartbeat(deps: SchedulingDeps, senderId: string, beat: Heartbeat): Promise<void> {
  const heard = await registerHeartbeat(deps, senderId, beat);
  if (!heard) return;
  if (heard.kind === 'new') deps.wakeNew(beat.worker_id);
  else if (heard.freed) deps.wake(beat.worker_id);
  await cancelEnded(deps, beat);
  await releaseLostJobs(deps, beat, heard);
}

/**
 * A worker that still runs a job which has ended did not hear the cancel: it was away. It is told again, with each
 * heartbeat until it stops. Jobs that another worker holds now are left alone, since a cancel goes to all.
 */
async function cancelEnded(deps: SchedulingDeps, { worker_id: worker, running_jobs: ids }: Heartbeat): Promise<void> {
  if (ids.length === 0) return;
  const strays = await deps.store.workers.notHeld(worker, ids.slice(0, mostListed));
  for (const job of await deps.store.index.records(strays)) {
    const endedUs = job.completed_at ?? deps.clock.nowUs();
    if (job.worker_id !== worker || !isTerminal(job.state) || deps.clock.nowUs() - endedUs < cancelAfterUs) continue;
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

const mostListed = 256;
/** A job that ended just now was listed before its worker knew. */
const cancelAfterUs = 2_000_000;

export function hearHandshake(deps: SchedulingDeps, senderId: string, shake: Handshake): void {
  deps.registry.handshake(senderId, shake, deps.clock.nowMs());
  if (deps.registry.room(shake.component_id) > 0) deps.wake(shake.component_id);
}

/**
 * Keeps the last progress with the job; its arrival renews the running time. Only the assigned worker's counts, and only
 * for the current dispatch when it names one, as it must where its worker is known to.
 */
export async function hearProgress(deps: SchedulingDeps, senderId: string, progress: JobProgress): Promise<void> {
  const { dispatch_id: dispatchId = '', assigned_worker_id: assigned = '' } = progress.dispatch ?? {};
  if (assigned !== '' && assigned !== senderId) return;
  if (await lacksRequiredDispatch(deps, 'progress', senderId, progress)) return;
  const noted = await deps.store.jobs.note(
    progress.job_id,
    { states: ['DISPATCHED', 'RUNNING'], holder: senderId, dispatchId },
    {
      progress_percent: Math.min(100, Math.max(0, progress.percent)),
      progress_message: progress.message.slice(0, 1_000),
      progress_at: deps.clock.nowUs(),
    },
  );
  if (!noted || !progress.dispatch?.dispatch_id) return;
  deps.registry.setNamesInProgress(senderId);
  await learnEcho(deps, senderId, progress.dispatch);
}

/** Gives back what silent workers held: each job is tried again, or ends, as after a retryable failure. */
export async function sweepSilentWorkers(deps: SchedulingDeps): Promise<void> {
  const { registry, clock } = deps;
  if (registry.silent(clock.nowMs()).length === 0) return;
  // A bus that hangs keeps its connections, and a process that was stopped has not read yet what came meanwhile: an answer
  // from the bus now comes after whatever the workers said before.
  if (!(await deps.busAnswers())) {
    registry.hearing(clock.nowMs());
    return;
  }
  for (const workerId of registry.expire(clock.nowMs())) await loseWorker(deps, workerId);
}

/** Safe to run twice and by several replicas: each job moves once, guarded by its holder. */
export async function loseWorker(deps: SchedulingDeps, workerId: string): Promise<void> {
  const ids = await deps.store.workers.inFlight(workerId);
  await deps.store.workers.dropLive(workerId);
  deps.events.workerLost(workerId, ids.length);
  for (const job of await deps.store.index.records(ids)) {
    if (isInFlight(job.state)) await releaseJob(deps, job, workerId, `worker ${workerId} went silent`);
  }
}

/** The shared picture that the gateway and restarting schedulers read. */
export function workerSnapshot(deps: Pick<SchedulingDeps, 'registry' | 'clock' | 'senderId'>): WorkerSnapshot {
  const workers = deps.registry.pictures();
  const pools: WorkerSnapshot['pools'] = {};
  for (const { pool, active_jobs, max_parallel_jobs } of workers) {
    const sum = (pools[pool] ??= { workers: 0, active_jobs: 0, capacity: 0 });
    sum.workers += 1;
    sum.active_jobs += active_jobs;
    sum.capacity += max_parallel_jobs;
  }
  return { captured_at: new Date(deps.clock.nowMs()).toISOString(), writer_id: deps.senderId, pools, workers };
}
