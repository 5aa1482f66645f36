import { AppError, type Caller, type ErrorCode, type RevisionItem, type WorkflowView } from '@svc/contract';
import type { Store } from '@svc/store';
import { revisionItemOf, workflowViewOf } from './workflow-view';

interface ReadDeps {
  store: Pick<Store, 'workflows'>;
}

const mostListed = 100;

/** Newest change first. See docs/reference/workflows.md#definitions. @throws tenant_access_denied */
export async function listWorkflows({ store }: ReadDeps, caller: Caller, orgId?: string): Promise<WorkflowView[]> {
  if (orgId && orgId !== caller.tenant) throw new AppError('tenant_access_denied');
  const records = await store.workflows.list(caller.tenant, mostListed);
  return records.map((record) => workflowViewOf(record, record));
}

/** @throws workflow_not_found, tenant_access_denied */
export async function getWorkflow({ store }: ReadDeps, caller: Caller, id: string): Promise<WorkflowView> {
  const record = foundOf(await store.workflows.get(caller.scope, id), 'workflow_not_found');
  return workflowViewOf(record, record);
}

/** Newest first. @throws workflow_not_found, tenant_access_denied */
export async function listRevisions(
  { store }: ReadDeps,
  caller: Caller,
  id: string,
  limit: number,
): Promise<RevisionItem[]> {
  const { version: newest } = foundOf(await store.workflows.get(caller.scope, id), 'workflow_not_found');
  const versions = await store.workflows.versions(caller.scope, id, limit);
  return versions.map((version) => revisionItemOf(version, newest));
}

/** @throws workflow_not_found, workflow_version_not_found, tenant_access_denied */
export async function getRevision(
  { store }: ReadDeps,
  caller: Caller,
  id: string,
  revision: number,
): Promise<WorkflowView> {
  const record = foundOf(await store.workflows.get(caller.scope, id), 'workflow_not_found');
  const version = foundOf(await store.workflows.version(caller.scope, id, revision), 'workflow_version_not_found');
  return workflowViewOf(version, record);
}

type Looked<T> = { kind: 'found'; value: T } | { kind: 'missing' } | { kind: 'other_tenant' };

/** @throws tenant_access_denied, or the given code when there is none */
export function foundOf<T>(looked: Looked<T>, missing: ErrorCode): T {
  if (looked.kind === 'found') return looked.value;
  throw new AppError(looked.kind === 'other_tenant' ? 'tenant_access_denied' : missing);
}
