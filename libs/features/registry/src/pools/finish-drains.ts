import { drainTimeouts } from '@svc/contract';
import { parsePools, toPoolsDocument, type Pool } from '@svc/routing';
import type { Store } from '@svc/store';
import type { Fleet } from '@svc/platform';
import { announceChange, type AnnounceDeps, defaultPlace, readDocument, successor } from '@svc/settings';
import { movePool, withPool } from './change-pools';

export interface FinishDrainDeps extends AnnounceDeps {
  store: Pick<Store, 'config' | 'index'>;
  fleet: Fleet;
}

/**
 * Makes each draining pool inactive whose jobs have all ended, or whose drain timeout has passed. Any scheduler may run it at
 * any time: the write succeeds only if nothing was written since the document was read, so neither a new drain nor a job
 * dispatched after a reactivation is overlooked. A lost race is repeated by the next run.
 * See docs/reference/routing.md#draining.
 *
 * @returns names of the pools that became inactive
 */
export async function finishDrains(deps: FinishDrainDeps): Promise<string[]> {
  const isDraining = ({ status }: Pool) => status === 'draining';
  if (!Object.values(deps.fleet.pools().pools).some(isDraining)) return [];
  const stored = await readDocument(deps, defaultPlace);
  if (!stored) return [];
  const parsed = parsePools(JSON.stringify(stored.data['pools'] ?? null), 'pools of system/default', false);
  // Reported by every process that reads the document; the last valid table stays in effect.
  if (!parsed.ok) return [];
  const finished: string[] = [];
  let table = parsed.value;
  for (const pool of Object.values(parsed.value.pools).filter(isDraining)) {
    const next = await checkDrain(deps, pool);
    if (!next) continue;
    table = withPool(table, next);
    if (!isDraining(next)) finished.push(pool.name);
  }
  if (table === parsed.value) return [];
  const data = { ...stored.data, pools: toPoolsDocument(table) };
  const isWritten = await deps.store.config.replace(successor(deps, defaultPlace, stored, { data }), stored.revision);
  if (!isWritten) return [];
  // After a crash here, replicas find the change by themselves within a second.
  await announceChange(deps, defaultPlace);
  return finished;
}

/** The pool after this check; undefined when nothing changes. */
async function checkDrain({ store, clock }: FinishDrainDeps, pool: Pool): Promise<Pool | undefined> {
  const { drain_started_at: startedAt, drain_timeout_seconds: timeoutSec = drainTimeouts.standard } = pool;
  // Set to draining in the pools file or by a config write: its time begins with the first check.
  if (startedAt === undefined) return { ...pool, drain_started_at: new Date(clock.nowMs()).toISOString() };
  const isOver = clock.nowMs() - Date.parse(startedAt) >= timeoutSec * 1_000;
  return isOver || !(await store.index.hasJobsInPool(pool.name)) ? movePool(pool, 'finish') : undefined;
}
