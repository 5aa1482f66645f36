import type { Pool, PoolTable } from './pools-file';
import { bestMatch, matchesTopic } from './topic-pattern';

/** A live worker, as seen by routing. */
export interface RoutableWorker {
  id: string;
  pool: string;
  /** In-flight jobs, by the scheduler's count and the last heartbeat. */
  active: number;
  /** 0 = not announced. */
  maxParallel: number;
  cpuLoad: number;
  gpuLoad: number;
  memoryLoad: number;
  capabilities: readonly string[];
  labels: Readonly<Record<string, string>>;
  readyTopics: readonly string[];
  /** Whether it announced its topics within the readiness TTL. */
  announced: boolean;
  draining: boolean;
  /** What its credential permits; absent = everything. Without a tenant, jobs of all tenants. */
  scope?: { tenant?: string | undefined; pools: readonly string[]; topics: readonly string[] } | undefined;
}

/** Routing requirements of a job. Jobs with equal requirements share a lane. */
export interface RoutingNeeds {
  topic: string;
  requires: readonly string[];
  /** `placement.*`, `constraint.*`, `node.*` labels. */
  placement: Readonly<Record<string, string>>;
  preferredPool?: string;
  /** Worker that gets the waiting job while it has capacity; otherwise any other worker may take it. */
  preferredWorkerId?: string;
}

export interface Preferences {
  preferredWorkerId?: string;
  /** Jobs with the same value go to the same worker while it has capacity. */
  affinity?: string;
}

export interface RoutingRules {
  readinessRequired: boolean;
}

export type RoutingFailure = 'no_pool_mapping' | 'no_workers' | 'pool_overloaded';
export type Choice =
  | { kind: 'worker'; worker: RoutableWorker }
  | { kind: 'none'; reason: RoutingFailure; detail: string }
  /** Live workers match except for capabilities; `capability` is one that the closest match lacks. */
  | { kind: 'none'; reason: 'missing_capability'; capability: string; detail: string };

const normal = (text: string) => text.trim().toLowerCase();
const covers = (held: readonly string[], wanted: readonly string[]) => {
  if (wanted.length === 0) return true;
  const have = new Set(held.map(normal));
  return wanted.every((entry) => have.has(normal(entry)));
};

/** The pools that may serve a job, in order of preference. See docs/reference/routing.md#selection. */
export function poolsFor(table: PoolTable, needs: RoutingNeeds): { pools: Pool[] } | { detail: string } {
  const mapped = bestMatch(table.topics, needs.topic);
  if (!mapped) return { detail: `no pool is mapped to topic ${needs.topic}` };
  const named = mapped.value.flatMap((name) => table.pools[name] ?? []);
  const open = named.filter(({ status }) => status === 'active');
  const preferred = needs.preferredPool === undefined ? open : open.filter(({ name }) => name === needs.preferredPool);
  if (preferred.length === 0) return { detail: `no active pool of topic ${needs.topic} fits` };
  const capable = preferred.filter(({ requires }) => covers(requires, needs.requires));
  if (capable.length > 0) return { pools: capable };
  const missing = needs.requires.filter((entry) => preferred.every(({ requires }) => !covers(requires, [entry])));
  return {
    detail: `no pool of topic ${needs.topic} offers ${missing.join(', ') || 'all required capabilities together'}`,
  };
}

/** The table with one of its pools active, whatever its status. */
export function withActivePool(table: PoolTable, name: string): PoolTable {
  const pool = Object.hasOwn(table.pools, name) ? table.pools[name] : undefined;
  if (!pool || pool.status === 'active') return table;
  return { ...table, pools: { ...table.pools, [name]: { ...pool, status: 'active' } } };
}

/** `waiting_reason` of a job for which no worker was found. */
export const waitingReason = (choice: Extract<Choice, { kind: 'none' }>): string =>
  choice.reason === 'missing_capability' ? `missing_capability: ${choice.capability}` : choice.reason;

/** Whether a worker may run such a job, regardless of its load. */
export function canServe(table: PoolTable, needs: RoutingNeeds, worker: RoutableWorker, rules: RoutingRules): boolean {
  const found = poolsFor(table, needs);
  return 'pools' in found && found.pools.some((pool) => fits(pool, needs, worker, rules));
}

const fits = (pool: Pool, needs: RoutingNeeds, worker: RoutableWorker, rules: RoutingRules): boolean =>
  fitsExceptCapabilities(pool, needs, worker, rules) && covers(worker.capabilities, pool.requires);

const fitsExceptCapabilities = (
  pool: Pool,
  needs: RoutingNeeds,
  worker: RoutableWorker,
  { readinessRequired }: RoutingRules,
): boolean =>
  worker.pool === pool.name &&
  !worker.draining &&
  isPermitted(worker, pool.name, needs.topic) &&
  (!readinessRequired ||
    (worker.announced && worker.readyTopics.some((pattern) => matchesTopic(pattern, needs.topic)))) &&
  Object.entries(needs.placement).every(([label, value]) => worker.labels[label] === value);

/** Whether a worker may run jobs of a tenant. The lanes are shared by tenants, so `canServe` does not check it. */
export const servesTenant = ({ scope }: Pick<RoutableWorker, 'scope'>, tenant: string): boolean =>
  scope?.tenant === undefined || scope.tenant === tenant;

/** Whether the credential of a worker permits a pool and a topic. */
export const isPermitted = ({ scope }: Pick<RoutableWorker, 'scope'>, pool: string, topic: string): boolean =>
  scope === undefined ||
  ((scope.pools.includes('*') || scope.pools.includes(pool)) &&
    scope.topics.some((pattern) => matchesTopic(pattern, topic)));

/**
 * The capability that blocks a job: the first one missing from the live worker that lacks the fewest. Undefined when no
 * worker matches the other requirements, or one matches them all.
 */
function missingCapability(
  pools: readonly Pool[],
  needs: RoutingNeeds,
  workers: readonly RoutableWorker[],
  rules: RoutingRules,
): string | undefined {
  let closest: string[] | undefined;
  for (const pool of pools) {
    for (const worker of workers) {
      if (!fitsExceptCapabilities(pool, needs, worker, rules)) continue;
      const missing = pool.requires.filter((entry) => !covers(worker.capabilities, [entry]));
      if (!closest || missing.length < closest.length) closest = missing;
    }
  }
  return closest?.[0];
}

/**
 * The worker that a job waits for, regardless of free capacity: the preferred one if it can serve the job, otherwise the
 * one selected by affinity.
 */
export function awaitedWorker(
  table: PoolTable,
  needs: RoutingNeeds,
  { preferredWorkerId, affinity }: Preferences,
  workers: readonly RoutableWorker[],
  rules: RoutingRules,
): string | undefined {
  if (preferredWorkerId === undefined && affinity === undefined) return undefined;
  const eligible = workers.filter((worker) => canServe(table, needs, worker, rules));
  if (eligible.some(({ id }) => id === preferredWorkerId)) return preferredWorkerId;
  return affinity === undefined ? undefined : rendezvous(eligible, affinity)?.id;
}

/** Whether a worker has a free slot. */
export const hasRoom = (worker: RoutableWorker): boolean =>
  worker.maxParallel <= 0 || worker.active < worker.maxParallel;

const isHot = (worker: RoutableWorker): boolean =>
  worker.cpuLoad >= 90 || worker.gpuLoad >= 90 || worker.memoryLoad >= 90;

/** Lower is better: share of slots in use, load as a tie-breaker, a penalty for workers near their limits. */
export const loadScore = (worker: RoutableWorker): number =>
  worker.active / Math.max(1, worker.maxParallel) +
  (worker.cpuLoad + worker.gpuLoad) / 1_000 +
  (isHot(worker) ? 10 : 0);

/**
 * Picks a worker: pools in order, and in each the less loaded of two distinct random workers (power of two choices, so
 * that many schedulers do not all pick the same one).
 *
 * @param random in [0, 1)
 */
export function chooseWorker(
  table: PoolTable,
  needs: RoutingNeeds,
  preferences: Preferences,
  workers: readonly RoutableWorker[],
  rules: RoutingRules,
  random: () => number,
): Choice {
  const found = poolsFor(table, needs);
  if ('detail' in found) return { kind: 'none', reason: 'no_pool_mapping', detail: found.detail };
  let anyEligible = false;
  for (const pool of found.pools) {
    const eligible = workers.filter((worker) => fits(pool, needs, worker, rules));
    anyEligible ||= eligible.length > 0;
    const free = eligible.filter(hasRoom);
    const picked = pick(free, preferences, random);
    if (picked) return { kind: 'worker', worker: picked };
  }
  const names = found.pools.map(({ name }) => name).join(', ');
  if (anyEligible)
    return { kind: 'none', reason: 'pool_overloaded', detail: `every worker of ${names} is at its limit` };
  const capability = missingCapability(found.pools, needs, workers, rules);
  return capability === undefined
    ? { kind: 'none', reason: 'no_workers', detail: `no live worker of ${names} can serve ${needs.topic}` }
    : {
        kind: 'none',
        reason: 'missing_capability',
        capability,
        detail: `no live worker of ${names} has ${capability}`,
      };
}

function pick(
  free: readonly RoutableWorker[],
  { preferredWorkerId, affinity }: Preferences,
  random: () => number,
): RoutableWorker | undefined {
  const wanted = preferredWorkerId && free.find(({ id }) => id === preferredWorkerId);
  if (wanted) return wanted;
  if (affinity !== undefined && free.length > 0) return rendezvous(free, affinity);
  const first = Math.floor(random() * free.length);
  // Drawn from the other workers, since a worker compared with itself would always win.
  const second = (first + 1 + Math.floor(random() * (free.length - 1))) % free.length;
  const [one, two] = [free[first], free[second]];
  if (!one || !two) return one;
  // Uses a hot worker only if every free one is hot.
  const cool = isHot(one) && isHot(two) ? free.find((worker) => !isHot(worker)) : undefined;
  return cool ?? (loadScore(two) < loadScore(one) ? two : one);
}

/** Highest random weight: adding or removing a worker moves only the jobs assigned to it. */
function rendezvous(workers: readonly RoutableWorker[], affinity: string): RoutableWorker | undefined {
  const weight = (text: string) =>
    [...text].reduce((hash, char) => Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0, 0x811c9dc5);
  return workers.reduce<RoutableWorker | undefined>(
    (best, worker) => (best && weight(`${affinity}|${best.id}`) >= weight(`${affinity}|${worker.id}`) ? best : worker),
    undefined,
  );
}
