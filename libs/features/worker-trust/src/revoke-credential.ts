import { AppError, managedScope, type Caller } from '@svc/contract';
import { announceChange } from '@svc/settings';
import { type CredentialDeps, workersScope } from './create-credential';

/**
 * Revokes the credential of a worker; again is a no-op. See docs/reference/worker-protocol.md#credentials.
 *
 * @throws worker_credential_not_found, also for a worker of another tenant
 */
export async function revokeWorkerCredential(deps: CredentialDeps, caller: Caller, workerId: string): Promise<void> {
  const now = new Date(deps.clock.nowMs()).toISOString();
  const outcome = await deps.trust.revoke(managedScope(caller, deps.defaultTenant), workerId, now);
  if (outcome === 'missing' || outcome === 'other_tenant') throw new AppError('worker_credential_not_found');
  // After a crash here, replicas find the change by themselves within a second.
  await announceChange(deps, workersScope);
}
