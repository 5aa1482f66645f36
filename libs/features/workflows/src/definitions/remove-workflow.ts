import { AppError, type Caller } from '@svc/contract';
import { policyPlace } from '@svc/policy';
import type { Store } from '@svc/store';
import { announceChange } from '@svc/settings';
import { overridePart, type PolicyWriteDeps } from '@svc/policy-admin';
import { writerName } from '@svc/identity';

export interface RemoveWorkflowDeps {
  store: Pick<Store, 'workflows' | 'runs' | 'runIndex'>;
  policy: PolicyWriteDeps;
  /** Retention of ended runs and of the revisions they use; 0 = unlimited. */
  keepSec: number;
}

/**
 * Deletes a workflow. Its runs are kept; live ones fail with `workflow deleted`. See docs/reference/workflows.md#definitions.
 *
 * @throws workflow_not_found, tenant_access_denied, workflow_version_conflict
 */
export async function removeWorkflow(deps: RemoveWorkflowDeps, caller: Caller, id: string): Promise<void> {
  const { store } = deps;
  const found = await store.workflows.get(caller.scope, id);
  if (found.kind === 'other_tenant') throw new AppError('tenant_access_denied');
  const tenant = found.kind === 'found' ? found.value.tenant : caller.tenant;
  const kind = await removeWithPolicy(deps, caller, { tenant, id });
  // No run starts after that. After a crash, repeating the delete posts to the remaining runs.
  const live = kind === 'other_tenant' ? [] : await store.runIndex.liveOf(tenant, id);
  for (const run of live) await store.runs.post(tenant, run, { kind: 'deleted' });
  if (kind !== 'removed') throw new AppError('workflow_not_found');
}

const maxTries = 3;

/** Removes the workflow and its policy atomically. @throws workflow_version_conflict on repeated concurrent policy changes */
async function removeWithPolicy(
  { store, policy, keepSec }: RemoveWorkflowDeps,
  caller: Caller,
  { tenant, id }: { tenant: string; id: string },
) {
  for (let i = 0; i < maxTries; i++) {
    const part = await overridePart(policy, caller, { workflowId: id, author: writerName(caller) });
    const { kind } = await store.workflows.remove(tenant, id, keepSec, 'always', part);
    if (kind === 'policy_changed') continue;
    if (part && kind === 'removed') await announceChange(policy, policyPlace);
    return kind;
  }
  throw new AppError('workflow_version_conflict');
}
