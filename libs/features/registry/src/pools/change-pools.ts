import { AppError, limits, printProblem, type Caller } from '@svc/contract';
import { poolStates, type PoolEvent, type PoolStatus } from '@svc/lifecycle';
import { isPoolName, parsePools, toPoolsDocument, type Pool, type PoolTable } from '@svc/routing';
import type { ConfigDocument, Store } from '@svc/store';
import type { StoredFleet } from '@svc/platform';
import { announceChange, type AnnounceDeps, type ChangeDeps, changeDocument, defaultPlace } from '@svc/settings';

export type PoolWriteDeps = ChangeDeps &
  AnnounceDeps & {
    store: Pick<Store, 'agents' | 'config' | 'index'>;
    fleet: StoredFleet;
    /** TENANT_ID: the tenant of the operators of the installation. */
    defaultTenant: string;
  };

/** Pools serve all tenants, so only admins of the default tenant, and callers who act for all tenants, change them. */
export const isPoolWriter = ({ defaultTenant }: Pick<PoolWriteDeps, 'defaultTenant'>, caller: Caller): boolean =>
  caller.tenant === defaultTenant || caller.allowCrossTenant;

/**
 * @throws tenant_access_denied, pool_invalid_config for a name that no pool can have
 */
export function requirePoolWriter(deps: PoolWriteDeps, caller: Caller, name: string): void {
  if (!isPoolWriter(deps, caller)) throw new AppError('tenant_access_denied');
  if (!isPoolName(name))
    throw poolFault('name', 'must be 3 to 63 of a-z, 0-9 and single -, and begin and end with a letter or digit');
}

/** A 400 that names the field, or the state that does not allow the request. */
export const poolFault = (field: string, message: string): AppError =>
  new AppError('pool_invalid_config', { error: `${field} ${message}`, violations: [{ field, message }] });

/** @throws pool_not_found */
export function findPool(table: PoolTable, name: string): Pool {
  const pool = Object.hasOwn(table.pools, name) ? table.pools[name] : undefined;
  if (!pool) throw new AppError('pool_not_found');
  return pool;
}

/** The table with one pool added or replaced. */
export const withPool = (table: PoolTable, pool: Pool): PoolTable => ({
  ...table,
  pools: { ...table.pools, [pool.name]: pool },
});

/** A pool after a transition; undefined when its status does not allow it. Fields of a drain exist while it lasts. */
export function movePool(pool: Pool, event: Exclude<PoolEvent, 'remove'>): Pool | undefined {
  const status = poolStates.next(pool.status, event);
  const { drain_started_at: _started, drain_timeout_seconds: _timeout, ...fields } = pool;
  return status === undefined ? undefined : { ...fields, status: status as PoolStatus };
}

/**
 * Changes the pools in system/default by compare-and-set, and notifies every replica. `change` returns the new table, or
 * undefined to leave it unchanged; it may be called more than once, and may throw to abort.
 *
 * @throws pool_version_conflict after three lost races, pool_invalid_config when the document would become too large or
 *   what is stored cannot be read
 */
export async function changePools(
  deps: PoolWriteDeps,
  change: (table: PoolTable) => PoolTable | undefined,
): Promise<void> {
  const written = await changeDocument(deps, defaultPlace, (stored) => {
    const data = stored?.data ?? {};
    const table = readStoredPools(deps, data);
    const next = change(table);
    if (!next) return undefined;
    const changed = { ...data, ...sourceHash(deps, data), pools: toPoolsDocument(next) };
    requireRoom(changed, { ...changed, pools: toPoolsDocument(table) });
    return { data: changed };
  }).catch((error: unknown) => {
    const isRace = error instanceof AppError && error.errorCode === 'config_version_conflict';
    throw isRace ? new AppError('pool_version_conflict') : error;
  });
  if (!written) return;
  // The caller's next request to this replica uses the new pools. A failed reload is repeated within a second.
  await deps.fleet.reload().catch(deps.onNoticeFailed);
  // After a crash here, replicas find the change by themselves within a second.
  await announceChange(deps, defaultPlace);
}

/**
 * The stored table. Before a scheduler has written the pools file into the document, the table of the file.
 *
 * @throws pool_invalid_config
 */
function readStoredPools({ fleet }: Pick<PoolWriteDeps, 'fleet'>, data: ConfigDocument['data']): PoolTable {
  if (!Object.hasOwn(data, 'pools')) return fleet.pools();
  const parsed = parsePools(JSON.stringify(data['pools']), 'pools of system/default', false);
  if (parsed.ok) return parsed.value;
  throw poolFault('pools', `of system/default cannot be read: ${parsed.problems.map(printProblem).join('; ')}`);
}

/** With the hash of the file, a table that was made from it is not replaced by it when a scheduler starts. */
function sourceHash({ fleet }: Pick<PoolWriteDeps, 'fleet'>, data: ConfigDocument['data']): ConfigDocument['data'] {
  const { pools: hash } = fleet.hashes();
  return Object.hasOwn(data, 'pools') || hash === undefined ? {} : { _poolsFileHash: hash };
}

/**
 * Rejects a document that is too large, unless it becomes smaller.
 *
 * @throws pool_invalid_config
 */
function requireRoom(next: ConfigDocument['data'], before: ConfigDocument['data']): void {
  const bytes = Buffer.byteLength(JSON.stringify(next));
  const most = limits.configBytes.default;
  if (bytes > most && bytes >= Buffer.byteLength(JSON.stringify(before)))
    throw poolFault('pools', `do not fit into system/default, which has at most ${most} bytes: remove some`);
}
