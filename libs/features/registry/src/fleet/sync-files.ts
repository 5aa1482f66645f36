import { poolsDocumentOf } from '@svc/routing';
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
 * Writes the pools and timeouts files into system/default: a key that is absent gets the file's content, and so does one
 * that came of another file than this; of the same file it is left as it is, whatever was made of it since. Safe to repeat,
 * and by several at once.
 *
 * @throws config_version_conflict after three lost races
 */
export async function syncFiles(
  deps: ChangeDeps & AnnounceDeps,
  files: Pick<FleetFiles, 'pools' | 'timeouts' | 'hashes'>,
): Promise<void> {
  const hashes = files.hashes();
  const tables = [
    { key: 'pools', hashKey: '_poolsFileHash', hash: hashes.pools, content: poolsDocumentOf(files.pools()) },
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
  // Should we die here, replicas find the change by themselves within 30 s.
  if (written) await announceChange(deps, defaultPlace);
}
