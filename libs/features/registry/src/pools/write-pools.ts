import { AppError, type Caller, type PoolBody, type PoolFields, type PoolPatch } from '@svc/contract';
import { poolStates } from '@svc/lifecycle';
import type { Pool, PoolTable } from '@svc/routing';
import { isDeepStrictEqual } from 'node:util';
import { tidy } from '../topics/registration';
import { changePools, findPool, movePool, type PoolWriteDeps, requirePoolWriter, withPool } from './change-pools';
import { listTopicNames, toDefinition } from './read-pools';

/**
 * Creates an active pool.
 *
 * @throws tenant_access_denied, pool_invalid_config, pool_name_conflict, pool_version_conflict
 */
export async function createPool(
  deps: PoolWriteDeps,
  caller: Caller,
  name: string,
  { requires = [], description = '' }: PoolBody,
): Promise<PoolFields> {
  requirePoolWriter(deps, caller, name);
  const pool: Pool = { name, status: 'active', requires: tidy(requires), description };
  await changePools(deps, (table) => {
    if (Object.hasOwn(table.pools, name)) throw new AppError('pool_name_conflict');
    return withPool(table, pool);
  });
  return toDefinition(pool);
}

/**
 * Changes the given fields of a pool. A status it has already is a no-op.
 *
 * @throws tenant_access_denied, pool_invalid_config, pool_not_found, pool_version_conflict
 */
export async function changePool(
  deps: PoolWriteDeps,
  caller: Caller,
  name: string,
  { requires, description, status }: PoolPatch,
): Promise<PoolFields> {
  requirePoolWriter(deps, caller, name);
  let changed: Pool | undefined;
  await changePools(deps, (table) => {
    const pool = findPool(table, name);
    const event = status === 'active' ? 'activate' : 'deactivate';
    const moved = status === undefined ? pool : (movePool(pool, event) ?? pool);
    changed = {
      ...moved,
      ...(requires && { requires: tidy(requires) }),
      ...(description !== undefined && { description }),
    };
    return isDeepStrictEqual(changed, pool) ? undefined : withPool(table, changed);
  });
  if (!changed) throw new AppError('pool_not_found');
  return toDefinition(changed);
}

/**
 * Deletes a pool. Jobs that its workers hold continue.
 *
 * @param options.force also removes it from its topics
 * @throws tenant_access_denied, pool_invalid_config when topics are mapped to it, pool_not_found, pool_in_use while it
 *   drains and, without force, while agents name it, pool_version_conflict
 */
export async function removePool(
  deps: PoolWriteDeps,
  caller: Caller,
  name: string,
  { force }: { force: boolean },
): Promise<void> {
  requirePoolWriter(deps, caller, name);
  const agents = await deps.store.agents.ofPool(name, MAX_AGENTS_LISTED);
  let blocked: { pool: Pool; topics: string[] } | undefined;
  await changePools(deps, (table) => {
    const pool = findPool(table, name);
    const topics = listTopicNames(table, name);
    blocked = undefined;
    if (poolStates.next(pool.status, 'remove') === undefined) {
      blocked = { pool, topics };
      return undefined;
    }
    if (topics.length > 0 && !force)
      throw new AppError('pool_invalid_config', {
        error: 'topics are mapped to the pool: remove the mappings, or delete it with force=true',
        topics,
      });
    if (agents.length > 0 && !force) {
      blocked = { pool, topics };
      return undefined;
    }
    return withoutPool(table, name);
  });
  if (blocked) throw await inUse(deps, blocked, agents);
}

const MAX_COUNTED = 10_000;
const MAX_AGENTS_LISTED = 100;

async function inUse(
  { store }: PoolWriteDeps,
  { pool, topics }: { pool: Pool; topics: string[] },
  agents: readonly string[],
): Promise<AppError> {
  return new AppError('pool_in_use', {
    pool: pool.name,
    pool_status: pool.status,
    queued_jobs: await store.index.countOpen(new Set(topics), MAX_COUNTED),
    agent_ids: [...agents].sort(),
  });
}

function withoutPool(table: PoolTable, name: string): PoolTable {
  const topics = Object.entries(table.topics).flatMap(([topic, pools]) => {
    const left = pools.filter((pool) => pool !== name);
    return left.length === 0 ? [] : [[topic, left] as const];
  });
  const pools = Object.entries(table.pools).filter(([key]) => key !== name);
  return { topics: Object.fromEntries(topics), pools: Object.fromEntries(pools) };
}
