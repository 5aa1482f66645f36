import { toPoolsDocument } from '@svc/routing';
import type { FleetFiles } from './fleet-files';
import {
  announceChange,
  type AnnounceDeps,
  type Change,
  type ChangeDeps,
  changeDocument,
  defaultPlace,
} from '@svc/settings';

/**
 * Writes the pools and timeouts files into system/default: an absent key, or one made from a different file, gets the
 * file's content; one made from the same file is left as it is, including later edits. Safe to repeat and to run
 * concurrently.
 *
 * @throws config_version_conflict after three lost races
 */
export async function syncFiles(
  deps: ChangeDeps & AnnounceDeps,
  files: Pick<FleetFiles, 'pools' | 'timeouts' | 'hashes'>,
): Promise<void> {
  const hashes = files.hashes();
  const tables = [
    { key: 'pools', hashKey: '_poolsFileHash', hash: hashes.pools, content: toPoolsDocument(files.pools()) },
    { key: 'timeouts', hashKey: '_timeoutsFileHash', hash: hashes.timeouts, content: files.timeouts() },
  ];
  const written = await changeDocument(deps, defaultPlace, (stored): Change | undefined => {
    const data = stored?.data ?? {};
    const differing = tables.filter(
      ({ key, hashKey, hash }) => hash !== undefined && (!Object.hasOwn(data, key) || data[hashKey] !== hash),
    );
    if (differing.length === 0) return undefined;
    const brought = differing.flatMap(({ key, hashKey, hash, content }) => [[key, content], [hashKey, hash]]); // prettier-ignore
    return { data: { ...data, ...(Object.fromEntries(brought) as Change['data']) } };
  });
  // After a crash here, replicas find the change by themselves within 30 s.
  if (written) await announceChange(deps, defaultPlace);
}
