import type { AuditAct, Caller } from '@svc/contract';
import { addressBucket } from '@svc/http';

/** The act of a caller who opens or ends a session. */
export const toSignInAct = (
  action: 'auth.sign_in' | 'auth.sign_out',
  caller: Caller,
  { ip, requestId, path }: { ip: string; requestId: string; path: string },
): AuditAct => ({
  event_type: 'system.auth',
  action,
  severity: 'INFO',
  identity: caller.principalId || caller.submitterId,
  extra: {
    source_ip: addressBucket(ip),
    auth_method: caller.source,
    key_id: caller.keyId,
    role: caller.role,
    path,
    request_id: requestId,
  },
});
