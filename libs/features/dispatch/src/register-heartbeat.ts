import type { Heartbeat } from '@svc/contract';
import { keepEcho, renewEcho } from './require-dispatch';
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
  const { worker_id: id } = beat;
  // A worker that was admitted is never refused later: it may hold jobs.
  const { removals } = registry;
  if (!registry.has(id)) {
    const { maxWorkers } = license();
    if (!(await store.workers.addLiveWorker(id, nowMs, maxWorkers))) {
      events.workerRefused(id, `the license allows ${maxWorkers} workers`);
      return undefined;
    }
  }
  // It was admitted before; its credential may have been revoked since, and its next heartbeat is judged by that.
  if (registry.removals !== removals) return undefined;
  const outcome = registry.heartbeat(beat, nowMs);
  // Before the worker can receive a job whose result could be forged.
  await keepEcho(deps, beat);
  return outcome;
}

/**
 * Renews what Redis has recorded of a registered worker, where it is due: not with every heartbeat, and for many workers in
 * one call. Nothing waits for it.
 */
export async function renewWorker(deps: Omit<RegisterDeps, 'events' | 'license'>, beat: Heartbeat): Promise<void> {
  const { registry, store, clock } = deps;
  const nowMs = clock.nowMs();
  await Promise.all([
    registry.startRenewal(beat.worker_id, nowMs) && store.workers.renewLiveWorker(beat.worker_id, nowMs),
    renewEcho(deps, beat),
  ]);
}
