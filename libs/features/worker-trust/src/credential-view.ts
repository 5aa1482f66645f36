import type { WorkerCredentialView } from '@svc/contract';
import type { WorkerTrustRecord } from './worker-trust.repository';

/** A credential, without anything of its token. */
export function toCredentialView({
  credential,
  revokedAt,
}: Pick<WorkerTrustRecord, 'credential' | 'revokedAt'>): WorkerCredentialView {
  return { ...credential, ...(revokedAt && { revoked_at: revokedAt }) };
}
