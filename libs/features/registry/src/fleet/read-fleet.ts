import { AppError, type WorkerView } from '@svc/contract';
import type { Store, WorkerRecord } from '@svc/store';
import type { Clock, Fleet } from '@svc/platform';

export interface FleetDeps {
  store: Store;
  clock: Clock;
  fleet: Fleet;
  workerTtlMs: number;
}

/** Live workers from the shared snapshot. See docs/reference/routing.md#liveness. */
export async function listWorkers({ store, clock, workerTtlMs }: FleetDeps): Promise<WorkerView[]> {
  const snapshot = await store.workers.snapshot();
  return (snapshot?.workers ?? []).map((worker) => workerView(worker, clock.nowMs(), workerTtlMs));
}

/** @throws worker_not_found */
export async function getWorker(deps: FleetDeps, id: string): Promise<WorkerView> {
  const found = (await listWorkers(deps)).find(({ worker_id }) => worker_id === id);
  if (!found) throw new AppError('worker_not_found');
  return found;
}

function workerView(worker: WorkerRecord, nowMs: number, ttlMs: number): WorkerView {
  const ageMs = Math.max(0, nowMs - worker.last_heartbeat_ms);
  const at = new Date(worker.last_heartbeat_ms).toISOString();
  const { last_heartbeat_ms: _, agent_name, ...fields } = worker;
  return {
    ...fields,
    last_heartbeat_at: at,
    last_heartbeat: at,
    heartbeat_age_seconds: Math.floor(ageMs / 1_000),
    online: ageMs < ttlMs,
    session_state: 'no_session',
    session_valid: false,
    ...(agent_name && { agent_name }),
  };
}
