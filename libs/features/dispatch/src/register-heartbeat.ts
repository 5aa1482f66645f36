import type { Heartbeat } from '@svc/contract';
import { keepEcho } from './require-dispatch';
import type { SchedulingDeps } from './scheduling-deps';
import { type HeartbeatOutcome, findHeartbeatRefusal } from './worker-registry';

export type RegisterDeps = Pick<SchedulingDeps, 'registry' | 'store' | 'clock' | 'license'> & {
  events: Pick<SchedulingDeps['events'], 'workerRefused'>;
};

/**
 * Adds a worker to the registry, or renews it. New workers over the license limit are refused. Every process that selects
 * workers calls this for each heartbeat.
 *
 * @returns undefined when the heartbeat is refused
 */
export async function registerHeartbeat(
  deps: RegisterDeps,
  senderId: string,
  beat: Heartbeat,
): Promise<HeartbeatOutcome | undefined> {
  const { registry, store, clock, license, events } = deps;
  const nowMs = clock.nowMs();
  const refusal = findHeartbeatRefusal(senderId, beat);
  if (refusal) {
    events.workerRefused(beat.worker_id, refusal);
    return undefined;
  }
  // A worker that was admitted is never refused later: it may hold jobs.
  const maxWorkers = registry.has(beat.worker_id) ? 0 : license().maxWorkers;
  if (!(await store.workers.addLiveWorker(beat.worker_id, nowMs, maxWorkers))) {
    events.workerRefused(beat.worker_id, `the license allows ${maxWorkers} workers`);
    return undefined;
  }
  const outcome = registry.heartbeat(beat, nowMs);
  // Before the worker can receive a job whose result could be forged.
  await keepEcho(deps, beat);
  return outcome;
}
