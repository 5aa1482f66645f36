import { everyTenant, managedScope, type Caller, type WorkerCredentialView } from '@svc/contract';
import { toCredentialView } from './credential-view';
import type { CredentialDeps } from './create-credential';

/** The worker credentials that the caller manages, by worker id. */
export async function listWorkerCredentials(
  { trust, defaultTenant }: Pick<CredentialDeps, 'trust' | 'defaultTenant'>,
  caller: Caller,
): Promise<WorkerCredentialView[]> {
  const scope = managedScope(caller, defaultTenant);
  const records = await trust.records(await (scope === everyTenant ? trust.allIds() : trust.idsOf(scope)));
  return [...records.values()].map(toCredentialView).sort((a, b) => (a.worker_id < b.worker_id ? -1 : 1));
}
