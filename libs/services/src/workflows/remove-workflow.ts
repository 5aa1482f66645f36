import { AppError, type Caller } from '@svc/contract';
import type { Store } from '@svc/store';

export interface RemoveWorkflowDeps {
  store: Pick<Store, 'workflows'>;
  /** How long runs are kept after their end, and with them the revisions they began with; 0 = for ever. */
  keepSec: number;
}

/** Runs are kept. Core contract 4; engine contract B8. @throws workflow_not_found, tenant_access_denied */
export async function removeWorkflow(
  { store, keepSec }: RemoveWorkflowDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const { kind } = await store.workflows.remove(caller.scope, id, keepSec);
  if (kind === 'missing') throw new AppError('workflow_not_found');
  if (kind === 'other_tenant') throw new AppError('tenant_access_denied');
}
