import { AppError, type AuditAct, type Caller } from '@svc/contract';
import { isTerminal, jobStates, isRunEnded, runStates } from '@svc/lifecycle';
import type { Clock } from '@svc/platform';
import type { Store } from '@svc/store';
import type { WorkerTrustRepository } from '@svc/worker-trust';
import { ErasureRepository } from './erasure.repository';

export interface ErasureDeps {
  store: Store;
  clock: Pick<Clock, 'nowMs'>;
  trust: Pick<WorkerTrustRepository, 'idsOf' | 'revoke'>;
  defaultTenant: string;
  /** Cancels a job of any tenant. @returns false when it had ended, or there is no such job */
  cancelJob(id: string, reason: string): Promise<boolean>;
  /** Both remove what other documents contain of the record. */
  removeWorkflow(caller: Caller, id: string): Promise<void>;
  removeTopics(tenant: string): Promise<void>;
  /** Time for engines to end cancelled runs, ms. */
  runEndMs: number;
}

const BATCH = 250;
/** Steps in one call. */
const MAX_STEPS = 10;
/** Tenants under a legal hold are listed too, and must not keep others from their deletion. */
const MAX_LISTED = 10_000;
const openStates = jobStates.states.filter((state) => !isTerminal(state));
const openStatuses = runStates.states.filter((status) => !isRunEnded(status));

/**
 * Deletes tenants whose deletion was requested, one step of each. Every step may be repeated: after a crash, the next call
 * continues with the step that was stored last. See docs/reference/tenants.md#deletion.
 *
 * @returns number of tenants deleted completely
 */
export async function eraseTenants(deps: ErasureDeps): Promise<number> {
  let [deleted, steps] = [0, 0];
  for (const tenant of await deps.store.tenants.changed(MAX_LISTED)) {
    if (steps >= MAX_STEPS) break;
    const record = await deps.store.tenants.get(tenant);
    // A hold that began after the request stops the deletion until it is released.
    if (record?.status !== 'deleting' || (await deps.store.legalHolds.isHeld(tenant))) continue;
    steps++;
    const executed = record.erasure?.phase;
    const next = await runStep(deps, tenant, executed ?? 'stop', record.updatedUs / 1_000);
    // A scan may take longer than the lease, and then another process continues.
    const isOwn = await deps.store.tenants.advanceErasure(tenant, executed, next);
    if (isOwn && next.phase === 'done' && (await finish(deps, tenant))) deleted++;
  }
  return deleted;
}

interface Step {
  phase: string;
  removed: number;
}

async function runStep(deps: ErasureDeps, tenant: string, phase: string, sinceMs: number): Promise<Step> {
  const erasure = new ErasureRepository(deps.store.redis, deps.store.keys);
  switch (phase) {
    case 'stop':
      return { phase: (await stop(deps, erasure, tenant, sinceMs)) ? 'documents' : 'stop', removed: 0 };
    case 'documents':
      await removeFromDocuments(deps, erasure, tenant);
      return { phase: 'parts', removed: 0 };
    case 'parts':
      await revokeKeys(deps, tenant);
      await erasure.removeEntries(tenant, await revokeWorkers(deps, tenant));
      return { phase: 'records', removed: await erasure.pass(tenant, 'parts') };
    case 'records':
      return { phase: 'done', removed: await erasure.pass(tenant, 'records') };
    default:
      return { phase: 'done', removed: 0 };
  }
}

/** Cancels jobs and runs. @returns whether none is open, or runs did not end in time */
async function stop(
  { store, clock, cancelJob, runEndMs }: ErasureDeps,
  erasure: ErasureRepository,
  tenant: string,
  sinceMs: number,
): Promise<boolean> {
  const { jobs, runs } = await erasure.open(tenant, { states: openStates, statuses: openStatuses, count: BATCH });
  for (const id of runs) await store.runs.post(tenant, id, { kind: 'cancel', by: 'tenant deletion' });
  const cancelled = await Promise.all(jobs.map((id) => cancelJob(id, 'the tenant is deleted')));
  if (cancelled.includes(true)) return false;
  return runs.length === 0 || clock.nowMs() >= sinceMs + runEndMs;
}

async function removeFromDocuments(deps: ErasureDeps, erasure: ErasureRepository, tenant: string): Promise<void> {
  const caller = systemCaller(tenant);
  const { workflows, schemas } = await erasure.ids(tenant);
  for (const id of workflows) {
    await deps.removeWorkflow(caller, id).catch((error: unknown) => {
      // Another process was faster.
      if (!(error instanceof AppError && error.errorCode === 'workflow_not_found')) throw error;
    });
  }
  for (const id of schemas) await deps.store.schemas.remove(tenant, id);
  await deps.removeTopics(tenant);
}

/** Revokes first, so that every replica refuses the workers. @returns ids of the workers */
async function revokeWorkers({ trust, clock }: ErasureDeps, tenant: string): Promise<string[]> {
  const ids = await trust.idsOf(tenant);
  for (const id of ids) await trust.revoke(tenant, id, new Date(clock.nowMs()).toISOString());
  return ids;
}

/** Replicas notice the change, and drop keys that they have in memory. */
async function revokeKeys({ store, clock }: ErasureDeps, tenant: string): Promise<void> {
  const now = new Date(clock.nowMs()).toISOString();
  for (const { record } of await store.apiKeys.list(tenant)) await store.apiKeys.revoke(tenant, record.id, now);
}

async function finish({ store, defaultTenant }: ErasureDeps, tenant: string): Promise<boolean> {
  const act: AuditAct = {
    event_type: 'tenant.changed',
    action: 'tenant.deleted',
    severity: 'HIGH',
    identity: 'system',
    extra: { resource_type: 'tenant', resource_id: tenant },
  };
  const request = { change: 'finish', maxTenants: 0, fields: {}, actorTenant: defaultTenant, act } as const;
  return (await store.tenants.change(tenant, request)).kind === 'changed';
}

const systemCaller = (tenant: string): Caller => ({
  ...{ tenant, scope: tenant, principalId: 'tenant-deletion', role: 'admin', keyId: '', keyName: '' },
  ...{ allowCrossTenant: false, source: 'anonymous', submitterId: 'system' },
});
