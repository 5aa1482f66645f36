import { limits, sectionHomes, settingFaults, type SettingFault } from '@svc/contract';
import { policyPlace, policySections } from '@svc/policy';
import { parsePools, parseTimeouts } from '@svc/routing';
import { readEntries, topicsScope } from '@svc/registry';
import { type DocumentPlace, isDefault } from '@svc/settings';

/** A problem in a document; line and column are positions in a text inside it. */
export interface DataFault extends SettingFault {
  line?: number;
  column?: number;
}

type Data = Readonly<Record<string, unknown>>;

/**
 * Validates the keys that a write sets, except policy bundles. null, which removes a key, is always valid. Unknown keys
 * of settings are not checked, since they are for workers.
 *
 * @param strictPools a topic that names a pool which is not defined is an error (production)
 */
export function dataFaults(place: DocumentPlace, data: Data, strictPools: boolean): DataFault[] {
  const brought = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
  if (place.scope === 'system' && !isDefault(place))
    return place.scope_id === topicsScope.scope_id ? topicFaults(brought) : [];
  const unread = unreadFaults(place, brought);
  if (!isDefault(place)) return [...unread, ...settingFaults(brought)];
  return [...unread, ...settingFaults(brought), ...tableFaults(brought, strictPools)];
}

/** Rejects sections that are never read from a document of this place: storing them would have no effect. */
export function unreadFaults(place: DocumentPlace, data: Data): DataFault[] {
  const here = `${place.scope}/${place.scope_id}`;
  const inPolicy = here === `${policyPlace.scope}/${policyPlace.scope_id}`;
  return Object.entries(data).flatMap(([path, value]) => {
    if (value === null) return [];
    const home = Object.hasOwn(sectionHomes, path) ? sectionHomes[path] : undefined;
    if (home === here) return [];
    if (home !== undefined) return [{ path, message: `is read from ${home} only: write it there` }];
    if (policySections.includes(path)) return [{ path, message: policySectionUnread }];
    return inPolicy ? [{ path, message: `is not read from ${here}, which has the section bundles only` }] : [];
  });
}

const policySectionUnread =
  'is a section of policy documents, which is not read from config: write it in a bundle with PUT /api/v1/policy/bundles/{id}';

/** The pools and timeouts of system/default are checked as the files are. See docs/reference/config.md#documents. */
function tableFaults(data: Data, strictPools: boolean): DataFault[] {
  const tables = {
    pools: (text: string) => parsePools(text, 'pools', strictPools),
    timeouts: (text: string) => parseTimeouts(text, 'timeouts'),
  };
  return Object.entries(tables).flatMap(([name, parse]) => {
    if (!Object.hasOwn(data, name)) return [];
    const parsed = parse(JSON.stringify(data[name]));
    // The line refers to generated JSON, which means nothing to the caller.
    return parsed.ok ? [] : parsed.problems.map(({ path, message }) => ({ path: [name, path].filter(Boolean).join('.'), message })); // prettier-ignore
  });
}

const topicFaults = (data: Data): DataFault[] =>
  readEntries(data).faults.map((key) => ({ path: key, message: 'must be a topic registration with a known status' }));

/** Maximum number of top-level keys of a document. */
export const maxKeys = (place: DocumentPlace): number =>
  place.scope === 'system' && !isDefault(place) ? limits.registryKeys : limits.configKeys;

/** Maximum size of a document as JSON. */
export const maxBytes = (place: DocumentPlace): number => {
  if (place.scope !== 'system') return limits.configBytes.tenant;
  return isDefault(place) ? limits.configBytes.default : limits.configBytes.system;
};
