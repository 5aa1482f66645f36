import type { Store } from '@svc/store';

interface TenantStopDeps {
  store: Pick<Store, 'tenants'>;
  /** Cancels a job of any tenant. @returns false when it had ended, or there is no such job */
  cancelJob(id: string, reason: string): Promise<boolean>;
}

/** Jobs cancelled together. */
const BATCH = 250;
/** How long a request waits for the stop of a tenant with very many jobs. */
const MAX_REQUEST_MS = 2_000;
/** Tenants in one run of the loop. Those that are being deleted are listed too, and must not keep others waiting. */
const MAX_TENANTS = 10_000;

/**
 * Cancels the jobs that workers have for a suspended tenant. No job is dispatched during that, since the dispatching scripts
 * refuse. Safe to repeat and to run several times at once.
 *
 * @returns whether the suspension is applied; false when the tenant is not suspended
 */
async function applySuspension({ store, cancelJob }: TenantStopDeps, tenant: string): Promise<boolean> {
  const { tenants } = store;
  for (;;) {
    const record = await tenants.get(tenant);
    if (record?.status !== 'suspended') return false;
    const jobs = await tenants.jobsWithWorkers(tenant, BATCH);
    const cancelled = await Promise.all(jobs.map((id) => cancelJob(id, 'the tenant was suspended')));
    // The reconciler removes a job that is listed although it ended.
    if (!cancelled.includes(true)) return tenants.finishChange(tenant, 'suspended');
  }
}

/** The same for a request, which does not wait for very many jobs. Never throws: a loop of the schedulers completes it. */
export async function applySuspensionSoon(
  deps: TenantStopDeps & { onStopFailed(tenant: string, error: unknown): void },
  tenant: string,
): Promise<void> {
  const applied = applySuspension(deps, tenant).catch((error: unknown) => deps.onStopFailed(tenant, error));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, MAX_REQUEST_MS)));
  await Promise.race([applied, late]).finally(() => clearTimeout(timer));
}

/** Applies suspensions that no process has applied completely. Returns the number of tenants. */
export async function completeSuspensions(deps: TenantStopDeps): Promise<number> {
  let completed = 0;
  for (const tenant of await deps.store.tenants.changed(MAX_TENANTS))
    if (await applySuspension(deps, tenant)) completed++;
  return completed;
}
