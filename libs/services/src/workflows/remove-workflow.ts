import { AppError, type Caller } from '@svc/contract';
import type { Store } from '@svc/store';

export interface RemoveWorkflowDeps {
  store: Pick<Store, 'workflows' | 'runs' | 'runIndex'>;
  /** How long runs are kept after their end, and with them the revisions they began with; 0 = for ever. */
  keepSec: number;
}

/**
 * Runs are kept; those under way fail with `workflow deleted`. Core contract 4; engine contract B8.
 *
 * @throws workflow_not_found, tenant_access_denied
 */
export async function removeWorkflow(
  { store, keepSec }: RemoveWorkflowDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const found = await store.workflows.get(caller.scope, id);
  if (found.kind === 'other_tenant') throw new AppError('tenant_access_denied');
  const tenant = found.kind === 'found' ? found.value.tenant : caller.tenant;
  const { kind } = await store.workflows.remove(tenant, id, keepSec);
  // No run begins after that. If we die before all of them are told, deleting once more tells the rest.
  const live = kind === 'other_tenant' ? [] : await store.runIndex.liveOf(tenant, id);
  for (const run of live) await store.runs.post(tenant, run, { kind: 'deleted' });
  if (kind !== 'removed') throw new AppError('workflow_not_found');
}
