import type { Caller } from '@svc/contract';

/**
 * Name of a record's writer (`author`, `created_by`). A name in the request body is used only for cross-tenant credentials,
 * which write on behalf of others; for any other caller it is the authenticated name. ADR 12.
 */
export function writerName({ principalId, submitterId, allowCrossTenant }: Caller, claimed?: string): string {
  return (allowCrossTenant && claimed) || principalId || submitterId;
}
