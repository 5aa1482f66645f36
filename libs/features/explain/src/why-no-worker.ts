import type { Blocker, JobBlocker, Owner } from '@svc/contract';
import {
  bestMatch,
  canServe,
  hasRoom,
  isPermitted,
  poolsFor,
  type Pool,
  type PoolTable,
  type RoutableWorker,
  type RoutingNeeds,
  type RoutingRules,
  servesTenant,
} from '@svc/routing';

type Reason = Pick<Blocker<JobBlocker>, 'kind' | 'what' | 'owner' | 'how'>;

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
const joinNames = (pools: readonly Pool[]): string => pools.map(({ name }) => name).join(', ');

/** Why no pool may run such a job; undefined when one may. Same rules as `poolsFor`. */
export function whyNoPool(table: PoolTable, needs: RoutingNeeds): Reason | undefined {
  const found = poolsFor(table, needs);
  if ('pools' in found) return undefined;
  const what = found.detail;
  const mapped = bestMatch(table.topics, needs.topic);
  const mapping: Owner = { kind: 'setting', id: `pools.yaml: topics.${mapped?.pattern ?? needs.topic}`, value: [...(mapped?.value ?? [])] };
  const named = (mapped?.value ?? []).flatMap((name) => table.pools[name] ?? []);
  const [first] = named;
  if (!mapped || !first) return { kind: 'no_pool', what, owner: mapping, how: 'map the topic to a pool' };
  const open = named.filter(({ status }) => status === 'active');
  if (open.length === 0) {
    const owner: Owner = { kind: 'pool', id: first.name, value: first.status };
    return { kind: 'pool_closed', what: `every pool of topic ${needs.topic} (${joinNames(named)}) is draining or inactive`, owner, how: 'make one of them active, or map the topic to another' };
  }
  const { preferredPool } = needs;
  const preferred = preferredPool === undefined ? open : open.filter(({ name }) => name === preferredPool);
  if (preferred.length === 0) {
    const owner: Owner = { kind: 'request', id: 'labels.preferred_pool', value: preferredPool ?? '' };
    return { kind: 'preferred_pool', what: `the pool it prefers, ${preferredPool ?? ''}, is not an active pool of topic ${needs.topic}`, owner, how: 'make that pool active for the topic, or submit without the label' };
  }
  const owner: Owner = { kind: 'request', id: 'requires', value: [...needs.requires] };
  return { kind: 'capability', what, owner, how: 'a pool of the topic must offer it under `requires`, or the job must demand less' };
} // prettier-ignore

/** The routing requirements of a job, and its tenant, which the credential of its worker must permit. */
export type JobNeeds = RoutingNeeds & { tenant: string };

/** Why a worker of a pool cannot run such a job, in routing order. */
type Mismatch = 'draining' | 'credential' | 'not_ready' | 'placement' | 'capability';
const closestFirst: readonly Mismatch[] = ['capability', 'placement', 'not_ready', 'credential', 'draining'];

function findMismatch(
  table: PoolTable,
  needs: JobNeeds,
  worker: RoutableWorker,
  rules: RoutingRules,
): Mismatch | undefined {
  if (worker.draining) return 'draining';
  if (!isPermitted(worker, worker.pool, needs.topic) || !servesTenant(worker, needs.tenant)) return 'credential';
  if (canServe(table, needs, worker, rules)) return undefined;
  // Repeats the check as if the later requirements were met.
  const required = Object.values(table.pools).flatMap(({ requires }) => requires);
  const able = { ...worker, capabilities: [...worker.capabilities, ...required] };
  if (!canServe(table, { ...needs, placement: {} }, able, rules)) return 'not_ready';
  return canServe(table, needs, able, rules) ? 'capability' : 'placement';
}

/**
 * Why none of the workers can run such a job, regardless of load; undefined when one can. Reports the mismatch of the
 * closest worker.
 */
export function whyNoWorker(
  table: PoolTable,
  needs: JobNeeds,
  workers: readonly RoutableWorker[],
  rules: RoutingRules,
): Reason | undefined {
  const found = poolsFor(table, needs);
  if ('detail' in found) return undefined;
  const names = joinNames(found.pools);
  const own = workers.filter(({ pool }) => found.pools.some(({ name }) => name === pool));
  if (own.length === 0) {
    const owner: Owner = { kind: 'pool', id: names, value: 0 };
    return { kind: 'no_workers', what: `no worker of ${names} is live`, owner, how: `start a worker in ${names}` };
  }
  const reasons = own.map((worker) => findMismatch(table, needs, worker, rules));
  if (reasons.includes(undefined)) return undefined;
  const nearest = closestFirst.find((reason) => reasons.includes(reason)) ?? 'draining';
  const of = plural(own.length, 'live worker');
  switch (nearest) {
    case 'draining':
      return { kind: 'workers_draining', what: `all ${of} of ${names} accept no new jobs: they are draining`, owner: { kind: 'pool', id: names }, how: 'start another worker, or end the draining of one' };
    case 'credential':
      return { kind: 'worker_credential', what: `none of ${of} of ${names} has a credential that permits jobs of ${needs.topic} and of this tenant`, owner: { kind: 'pool', id: names }, how: 'an admin must write a credential that permits them (/api/v1/workers/credentials), and its worker must start' };
    case 'not_ready':
      return { kind: 'workers_not_ready', what: `none of ${of} of ${names} has announced that it is ready for ${needs.topic}`, owner: { kind: 'setting', id: 'WORKER_READINESS_REQUIRED', value: true }, how: 'a worker must announce the topic as ready' };
    case 'placement':
      return { kind: 'placement', what: `none of ${of} of ${names} has the labels the job requires: ${formatLabels(needs)}`, owner: { kind: 'request', id: Object.keys(needs.placement).join(', '), value: Object.values(needs.placement) }, how: 'a worker with these labels must start' };
    case 'capability': {
      const requires = [...new Set(found.pools.flatMap((pool) => pool.requires))];
      return { kind: 'worker_capability', what: `none of ${of} of ${names} declares what its pool requires: ${requires.join(', ')}`, owner: { kind: 'pool', id: names, value: requires }, how: 'a worker must declare these capabilities' };
    }
  }
} // prettier-ignore

const formatLabels = ({ placement }: RoutingNeeds): string =>
  Object.entries(placement)
    .map(([label, value]) => `${label}=${value}`)
    .join(', ');

/** Why none of the matching workers has a free slot; undefined when one has. */
export function whyNoRoom(
  table: PoolTable,
  needs: JobNeeds,
  workers: readonly RoutableWorker[],
  rules: RoutingRules,
): Reason | undefined {
  const able = workers.filter((worker) => canServe(table, needs, worker, rules) && servesTenant(worker, needs.tenant));
  if (able.some(hasRoom)) return undefined;
  const names = [...new Set(able.map(({ pool }) => pool))];
  const slots = able.reduce((sum, { maxParallel }) => sum + maxParallel, 0);
  return {
    kind: 'workers_full',
    what: `the ${plural(able.length, 'worker')} of ${names.join(', ')} that could run it have all ${plural(slots, 'slot')} in use`,
    owner: { kind: 'pool', id: names.join(', '), value: slots },
    how: 'one of their jobs must end, or another worker must start',
  };
}
