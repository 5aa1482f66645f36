import type { Caller, JobItem } from '@svc/contract';
import { type FleetDeps, getWorker } from '@svc/registry';
import { toJobItem } from './job-views';

/**
 * Jobs of the caller's tenant that were dispatched to a worker, newest first.
 *
 * @throws worker_not_found when the caller can see neither jobs nor the worker, so that no other tenant's worker is disclosed
 */
export async function workerJobs(deps: FleetDeps, caller: Caller, id: string, limit: number): Promise<JobItem[]> {
  const ids = [...new Set(await deps.store.workers.recentJobs(id, 1_000))];
  const jobs = (await deps.store.index.records(ids)).filter(({ tenant }) => tenant === caller.tenant);
  if (jobs.length === 0) await getWorker(deps, id, caller);
  return jobs.slice(0, limit).map(toJobItem);
}
