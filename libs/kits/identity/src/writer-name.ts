import type { Caller } from '@svc/contract';

/**
 * The name that a record shows for its writer (`author`, `created_by`). A name in the request body counts only for
 * credentials of all tenants, which write on behalf of others; any other caller signs with the authenticated name. ADR 12.
 */
export function writerName({ principalId, submitterId, allowCrossTenant }: Caller, claimed?: string): string {
  return (allowCrossTenant && claimed) || principalId || submitterId;
}
