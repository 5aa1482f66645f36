import { AppError, type Caller, type PoolDetail, type PoolFields, type PoolView, type WorkerView } from '@svc/contract';
import { bestMatch, needsFromSpec, type Pool, type PoolTable } from '@svc/routing';
import { type FleetDeps, listWorkers } from '../fleet/read-fleet';

/** All pools with their live load. See docs/reference/routing.md#pools. */
export async function listPools(deps: FleetDeps): Promise<PoolView[]> {
  const table = deps.fleet.pools();
  const [workers, queued] = await Promise.all([listWorkers(deps), countQueued(deps, table)]);
  return Object.values(table.pools)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((pool) => {
      const own = workers.filter((worker) => worker.pool === pool.name);
      return { ...toDefinition(pool), workers: own.length, ...load(own), queued_jobs: queued.get(pool.name) ?? 0 };
    });
}

/**
 * The load is that of all workers; a caller sees those of its tenant and of the installation.
 *
 * @throws pool_not_found
 */
export async function getPool(deps: FleetDeps, name: string, caller?: Caller): Promise<PoolDetail> {
  const table = deps.fleet.pools();
  const pool = Object.hasOwn(table.pools, name) ? table.pools[name] : undefined;
  if (!pool) throw new AppError('pool_not_found');
  const [workers, visible, queued] = await Promise.all([
    listWorkers(deps),
    caller ? listWorkers(deps, caller) : undefined,
    countQueued(deps, table),
  ]);
  const own = workers.filter((worker) => worker.pool === name);
  const { drain_started_at, drain_timeout_seconds } = pool;
  return {
    ...toDefinition(pool),
    ...load(own),
    queued_jobs: queued.get(name) ?? 0,
    topics: listTopicNames(table, name),
    workers: visible ? visible.filter((worker) => worker.pool === name) : own,
    ...(drain_started_at && { drain_started_at }),
    ...(drain_timeout_seconds && { drain_timeout_seconds }),
  };
}

/** The pool as writes return it. */
export const toDefinition = ({ name, status, requires, description }: Pool): PoolFields => ({
  name,
  status,
  requires,
  description,
});

/** Topics and patterns that are mapped to a pool, sorted. */
export const listTopicNames = (table: PoolTable, pool: string): string[] =>
  Object.entries(table.topics)
    .filter(([, pools]) => pools.includes(pool))
    .map(([topic]) => topic)
    .sort();

/** Jobs in lanes by pool. A job that several pools may serve counts in each of them, also while a pool gets no jobs. */
async function countQueued({ store }: FleetDeps, table: PoolTable): Promise<Map<string, number>> {
  const queued = new Map<string, number>();
  for (const { spec, jobs } of await store.workers.waiting()) {
    const { topic, preferredPool } = needsFromSpec(spec);
    for (const name of bestMatch(table.topics, topic)?.value ?? []) {
      if (preferredPool === undefined || preferredPool === name) queued.set(name, (queued.get(name) ?? 0) + jobs);
    }
  }
  return queued;
}

function load(workers: readonly WorkerView[]) {
  const sum = (of: (worker: WorkerView) => number) => workers.reduce((total, worker) => total + of(worker), 0);
  const active_jobs = sum((worker) => worker.active_jobs);
  const capacity = sum((worker) => worker.max_parallel_jobs);
  return { active_jobs, capacity, utilization: capacity > 0 ? Math.min(1, active_jobs / capacity) : 0 };
}
