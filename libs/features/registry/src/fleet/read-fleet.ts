import { AppError, type Caller, everyTenant, managedScope, type WorkerView } from '@svc/contract';
import type { Store, WorkerRecord } from '@svc/store';
import type { Clock, Fleet } from '@svc/platform';

export interface FleetDeps {
  store: Store;
  clock: Clock;
  fleet: Fleet;
  workerTtlMs: number;
  defaultTenant: string;
}

/**
 * Live workers from the shared snapshot; for a caller, those of its tenant and of the installation.
 * See docs/reference/routing.md#liveness.
 */
export async function listWorkers(
  { store, clock, workerTtlMs, defaultTenant }: FleetDeps,
  caller?: Caller,
): Promise<WorkerView[]> {
  const snapshot = await store.workers.snapshot();
  const scope = caller && managedScope(caller, defaultTenant);
  const isVisible = ({ tenant = defaultTenant }: WorkerRecord) =>
    scope === undefined || scope === everyTenant || tenant === scope || tenant === defaultTenant;
  return (snapshot?.workers ?? []).filter(isVisible).map((worker) => workerView(worker, clock.nowMs(), workerTtlMs));
}

/** @throws worker_not_found, also for a worker of another tenant */
export async function getWorker(deps: FleetDeps, id: string, caller?: Caller): Promise<WorkerView> {
  const found = (await listWorkers(deps, caller)).find(({ worker_id }) => worker_id === id);
  if (!found) throw new AppError('worker_not_found');
  return found;
}

function workerView(worker: WorkerRecord, nowMs: number, ttlMs: number): WorkerView {
  const ageMs = Math.max(0, nowMs - worker.last_heartbeat_ms);
  const at = new Date(worker.last_heartbeat_ms).toISOString();
  const { last_heartbeat_ms: _, agent_name, tenant: _tenant, session, ...fields } = worker;
  const isValid = session !== undefined && !session.revoked && session.exp_ms > nowMs;
  return {
    ...fields,
    last_heartbeat_at: at,
    last_heartbeat: at,
    heartbeat_age_seconds: Math.floor(ageMs / 1_000),
    online: ageMs < ttlMs,
    session_state: getSessionState(session, isValid),
    session_valid: isValid,
    ...(session && { session_exp_ms: session.exp_ms }),
    ...(session?.revoked && { session_revoked: true }),
    ...(agent_name && { agent_name }),
  };
}

const getSessionState = (session: WorkerRecord['session'], isValid: boolean): string => {
  if (isValid) return 'valid';
  if (!session) return 'no_session';
  return session.revoked ? 'session_revoked' : 'session_expired';
};
