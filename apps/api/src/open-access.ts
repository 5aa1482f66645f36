import { ManagedKeys, RoleBook } from '@svc/access';
import { startLoops } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import type { Store } from '@svc/store';
import type { CredentialNotices } from './open-credential-notices';

/** Managed API keys and roles, as every check of a request knows them. */
export interface Access {
  managedKeys: ManagedKeys;
  roleBook: RoleBook;
}

/** Less than a second, within which revoked keys and changed roles are in effect at every gateway. */
const SYNC_EVERY_MS = 400;
const FLUSH_EVERY_MS = 1_000;

/**
 * Follows changes of managed keys and roles. Without Redis the gateway starts with the built-in roles.
 *
 * @param notices open streams are checked when a key or a role has changed
 */
export async function openAccess(
  { clock, log, onStop }: Pick<Boot<ApiEnv>, 'clock' | 'log' | 'onStop'>,
  store: Pick<Store, 'apiKeys' | 'roles'>,
  { changes }: Pick<CredentialNotices, 'changes'>,
): Promise<Access> {
  const managedKeys = new ManagedKeys({
    ...{ ...store, clock },
    onChanged: (id) => (id === undefined ? changes.anyChanged() : changes.changed(id)),
  });
  const roleBook = new RoleBook({ ...store, clock, onChanged: () => changes.anyChanged() });
  const failed = (loop: string, error: unknown) =>
    log.oncePer(`loop:${loop}`, 10_000).warn('following API keys and roles failed', { loop, error });
  const stop = startLoops(
    [
      { name: 'api-keys', everyMs: SYNC_EVERY_MS, run: () => managedKeys.sync() },
      { name: 'roles', everyMs: SYNC_EVERY_MS, run: () => roleBook.sync() },
      { name: 'api-key-uses', everyMs: FLUSH_EVERY_MS, run: () => managedKeys.flush() },
    ],
    failed,
  );
  onStop('access', async () => {
    await stop();
    await managedKeys.flush();
  });
  await Promise.all([managedKeys.sync(), roleBook.sync()]).catch((error: unknown) => failed('start', error));
  return { managedKeys, roleBook };
}
