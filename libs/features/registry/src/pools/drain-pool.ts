import { drainTimeouts, type Caller, type DrainView } from '@svc/contract';
import type { Pool } from '@svc/routing';
import {
  changePools,
  findPool,
  movePool,
  poolFault,
  type PoolWriteDeps,
  requirePoolWriter,
  withPool,
} from './change-pools';

/**
 * Starts to drain a pool: from this write on, no script dispatches a job to it, and jobs that its workers hold continue.
 * `finishDrains` ends it. See docs/reference/routing.md#draining.
 *
 * @throws tenant_access_denied, pool_invalid_config unless the pool is active, pool_not_found, pool_version_conflict
 */
export async function drainPool(
  deps: PoolWriteDeps,
  caller: Caller,
  name: string,
  { timeout_seconds: wanted = 0 }: { timeout_seconds?: number },
): Promise<DrainView> {
  requirePoolWriter(deps, caller, name);
  const drain = {
    drain_started_at: new Date(deps.clock.nowMs()).toISOString(),
    drain_timeout_seconds: wanted > 0 ? wanted : drainTimeouts.standard,
  };
  await changePools(deps, (table) => {
    const pool = findPool(table, name);
    const draining = movePool(pool, 'drain');
    if (!draining) throw poolFault('status', `is ${pool.status}: only an active pool can be drained`);
    return withPool(table, { ...draining, ...drain } satisfies Pool);
  });
  return { name, status: 'draining', ...drain };
}
