import { AppError, type Caller } from '@svc/contract';
import { policyPlace } from '@svc/policy';
import type { Store } from '@svc/store';
import { announceChange } from '@svc/settings';
import { overridePart, type PolicyWriteDeps } from '@svc/policy-admin';
import { writerName } from '@svc/identity';

export interface RemoveWorkflowDeps {
  store: Pick<Store, 'workflows' | 'runs' | 'runIndex'>;
  policy: PolicyWriteDeps;
  /** How long runs are kept after their end, and with them the revisions they began with; 0 = for ever. */
  keepSec: number;
}

/**
 * Runs are kept; those under way fail with `workflow deleted`. See docs/reference/workflows.md#definitions.
 *
 * @throws workflow_not_found, tenant_access_denied, workflow_version_conflict
 */
export async function removeWorkflow(deps: RemoveWorkflowDeps, caller: Caller, id: string): Promise<void> {
  const { store } = deps;
  const found = await store.workflows.get(caller.scope, id);
  if (found.kind === 'other_tenant') throw new AppError('tenant_access_denied');
  const tenant = found.kind === 'found' ? found.value.tenant : caller.tenant;
  const kind = await removed(deps, caller, { tenant, id });
  // No run begins after that. If we die before all of them are told, deleting once more tells the rest.
  const live = kind === 'other_tenant' ? [] : await store.runIndex.liveOf(tenant, id);
  for (const run of live) await store.runs.post(tenant, run, { kind: 'deleted' });
  if (kind !== 'removed') throw new AppError('workflow_not_found');
}

const tries = 3;

/** With its policy: both or neither. @throws workflow_version_conflict when others keep changing policies */
async function removed(
  { store, policy, keepSec }: RemoveWorkflowDeps,
  caller: Caller,
  { tenant, id }: { tenant: string; id: string },
) {
  for (let i = 0; i < tries; i++) {
    const part = await overridePart(policy, caller, { workflowId: id, author: writerName(caller) });
    const { kind } = await store.workflows.remove(tenant, id, keepSec, 'always', part);
    if (kind === 'policy_changed') continue;
    if (part && kind === 'removed') await announceChange(policy, policyPlace);
    return kind;
  }
  throw new AppError('workflow_version_conflict');
}
