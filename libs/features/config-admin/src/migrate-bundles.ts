import { isRecord } from '@svc/json';
import { policyPlace } from '@svc/policy';
import {
  announceChange,
  type AnnounceDeps,
  type ChangeDeps,
  changeDocument,
  defaultPlace,
  readDocument,
} from '@svc/settings';

/**
 * Moves policy bundles that an older version stored in system/default to system/policy, where a bundle with the same id
 * wins. Safe to repeat and to run concurrently: bundles are removed from the source only once they are in the target.
 *
 * @returns the ids that were moved, and whether `bundles` is not a map in either document, so that nothing was moved
 * @throws config_version_conflict after three lost races
 */
export async function migrateBundles(
  deps: ChangeDeps & AnnounceDeps,
): Promise<{ moved: readonly string[]; stays: boolean }> {
  const legacy = (await readDocument(deps, defaultPlace))?.data['bundles'];
  if (legacy === undefined) return { moved: [], stays: false };
  if (!isRecord(legacy)) return { moved: [], stays: true };
  let stays = false;
  await changeDocument(deps, policyPlace, (stored) => {
    const bundles = stored?.data['bundles'] ?? {};
    stays = !isRecord(bundles);
    if (!isRecord(bundles) || Object.keys(legacy).every((id) => Object.hasOwn(bundles, id))) return undefined;
    return { data: { ...stored?.data, bundles: { ...legacy, ...bundles } } };
  });
  if (stays) return { moved: [], stays };
  // After a crash here they are in both documents, and the next start removes them from the old one.
  const text = JSON.stringify(legacy);
  await changeDocument(deps, defaultPlace, (stored) => {
    const { bundles, ...rest } = stored?.data ?? {};
    // Bundles that an old version writes in between are moved at the next start.
    return JSON.stringify(bundles) === text ? { data: rest } : undefined;
  });
  await announceChange(deps, policyPlace);
  return { moved: Object.keys(legacy), stays };
}
