import { AppError, type Caller, type ErrorCode, type RevisionItem, type WorkflowView } from '@svc/contract';
import type { Store } from '@svc/store';
import { toRevisionItem, toWorkflowView } from './workflow-view';

interface ReadDeps {
  store: Pick<Store, 'workflows'>;
}

const maxListed = 100;

/** Newest change first. See docs/reference/workflows.md#definitions. @throws tenant_access_denied */
export async function listWorkflows({ store }: ReadDeps, caller: Caller, orgId?: string): Promise<WorkflowView[]> {
  if (orgId && orgId !== caller.tenant) throw new AppError('tenant_access_denied');
  const records = await store.workflows.list(caller.tenant, maxListed);
  return records.map((record) => toWorkflowView(record, record));
}

/** @throws workflow_not_found, tenant_access_denied */
export async function getWorkflow({ store }: ReadDeps, caller: Caller, id: string): Promise<WorkflowView> {
  const record = requireFound(await store.workflows.get(caller.scope, id), 'workflow_not_found');
  return toWorkflowView(record, record);
}

/** Newest first. @throws workflow_not_found, tenant_access_denied */
export async function listRevisions(
  { store }: ReadDeps,
  caller: Caller,
  id: string,
  limit: number,
): Promise<RevisionItem[]> {
  const { version: newest } = requireFound(await store.workflows.get(caller.scope, id), 'workflow_not_found');
  const versions = await store.workflows.versions(caller.scope, id, limit);
  return versions.map((version) => toRevisionItem(version, newest));
}

/** @throws workflow_not_found, workflow_version_not_found, tenant_access_denied */
export async function getRevision(
  { store }: ReadDeps,
  caller: Caller,
  id: string,
  revision: number,
): Promise<WorkflowView> {
  const record = requireFound(await store.workflows.get(caller.scope, id), 'workflow_not_found');
  const version = requireFound(await store.workflows.version(caller.scope, id, revision), 'workflow_version_not_found');
  return toWorkflowView(version, record);
}

type FindResult<T> = { kind: 'found'; value: T } | { kind: 'missing' } | { kind: 'other_tenant' };

/** Unwraps a read. @throws tenant_access_denied, or the given code when it found nothing */
export function requireFound<T>(result: FindResult<T>, missing: ErrorCode): T {
  if (result.kind === 'found') return result.value;
  throw new AppError(result.kind === 'other_tenant' ? 'tenant_access_denied' : missing);
}
