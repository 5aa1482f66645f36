import { startLoops, whenAvailable, type Platform } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import { TenantStops } from '@svc/tenants';
import type { CredentialNotices } from './open-credential-notices';

/** A suspension is in effect on every gateway within this time and two reads of Redis. */
const SYNC_EVERY_MS = 250;

/** Follows which tenants are suspended. After each change the open streams are checked. */
export async function openTenantStops(
  boot: Boot<ApiEnv>,
  { store }: Pick<Platform, 'store'>,
  { changes }: Pick<CredentialNotices, 'changes'>,
): Promise<TenantStops> {
  const { log, onStop } = boot;
  const stops = new TenantStops(store.tenants, () => changes.anyChanged());
  // Before the first request is authenticated.
  await whenAvailable(boot, 'store', stops.sync);
  const failed = (_: string, error: unknown) =>
    log
      .oncePer('tenant-stops', 10_000)
      .warn('reading suspended tenants failed; the last ones stay in effect', { error });
  onStop('tenant-stops', startLoops([{ name: 'tenant-stops', everyMs: SYNC_EVERY_MS, run: stops.sync }], failed));
  return stops;
}
