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
 * Moves policy bundles that an older version kept in system/default to system/policy, where one of the same id stands over
 * it. Safe to repeat, and by several at once: they are taken away only once they are there.
 *
 * @returns the ids that were moved, and whether what stood there is none that can be moved, and so stays
 * @throws config_version_conflict after three lost races
 */
export async function migrateBundles(
  deps: ChangeDeps & AnnounceDeps,
): Promise<{ moved: readonly string[]; stays: boolean }> {
  const legacy = (await readDocument(deps, defaultPlace))?.data['bundles'];
  if (legacy === undefined) return { moved: [], stays: false };
  if (!isMap(legacy)) return { moved: [], stays: true };
  let stays = false;
  await changeDocument(deps, policyPlace, (stored) => {
    const bundles = stored?.data['bundles'] ?? {};
    stays = !isMap(bundles);
    if (!isMap(bundles) || Object.keys(legacy).every((id) => Object.hasOwn(bundles, id))) return undefined;
    return { data: { ...stored?.data, bundles: { ...legacy, ...bundles } } };
  });
  if (stays) return { moved: [], stays };
  // Should we die here, they stand in both places, and the next start takes them away from the old one.
  const text = JSON.stringify(legacy);
  await changeDocument(deps, defaultPlace, (stored) => {
    const { bundles, ...rest } = stored?.data ?? {};
    // What an old version wrote in between is moved at the next start.
    return JSON.stringify(bundles) === text ? { data: rest } : undefined;
  });
  await announceChange(deps, policyPlace);
  return { moved: Object.keys(legacy), stays };
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
