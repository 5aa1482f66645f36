import { requireInstallationCaller, type Caller, type LockEntryView } from '@svc/contract';
import type { LockDeps } from './hold-lock';

const MAX_ENTRIES = 500;

/**
 * Lists locks and leases of the installation. Their names contain tenants, runs and the names that tenants chose.
 * See docs/reference/locks.md#all-locks.
 *
 * @throws tenant_access_denied
 */
export async function listLocks(
  { store, defaultTenant }: LockDeps,
  caller: Caller,
): Promise<{ locks: LockEntryView[]; truncated: boolean }> {
  requireInstallationCaller(caller, defaultTenant);
  const { entries, isTruncated } = await store.locks.scan(MAX_ENTRIES);
  const locks = entries.map(({ key, holder, ttlMs, type }) => ({ key, holder, ttl_remaining_ms: ttlMs, type }));
  return { locks: locks.sort((a, b) => (a.key < b.key ? -1 : 1)), truncated: isTruncated };
}
