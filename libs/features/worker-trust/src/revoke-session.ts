import { AppError, managedScope, type Caller } from '@svc/contract';
import { announceChange } from '@svc/settings';
import { type CredentialDeps, workersScope } from './create-credential';

/**
 * Ends the session of a worker: its tokens are refused within a second by all replicas, and it must prove its key again.
 * Again is a no-op. See docs/reference/worker-protocol.md#sessions.
 *
 * @throws worker_not_found, also for a worker of another tenant; service_unavailable without sessions
 */
export async function revokeWorkerSession(
  deps: CredentialDeps,
  caller: Caller,
  workerId: string,
): Promise<{ worker_id: string; tenant: string; revoked: boolean }> {
  const outcome = await deps.trust.revokeSession(managedScope(caller, deps.defaultTenant), workerId);
  if (outcome.kind !== 'revoked') throw new AppError('worker_not_found');
  if (!deps.hasSessions) throw new AppError('service_unavailable');
  // After a crash here, replicas find the change by themselves within a second.
  await announceChange(deps, workersScope);
  return { worker_id: workerId, tenant: outcome.tenant, revoked: true };
}
