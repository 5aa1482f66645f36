import { limits, settingFaults, type SettingFault } from '@svc/contract';
import { parsePools, parseTimeouts } from '@svc/routing';
import { readEntries } from '../topics/registration';
import { topicsScope } from '../topics/topics-document';
import { isDefault } from './config-place';
import type { DocumentPlace } from './documents';

/** What is wrong with a part of a document; line and column are those of a text inside it. */
export interface DataFault extends SettingFault {
  line?: number;
  column?: number;
}

type Data = Readonly<Record<string, unknown>>;

/**
 * What is wrong with the keys that a write brings, policy bundles aside. null, which removes a key, is never wrong, and keys that nobody here
 * reads are not looked at.
 *
 * @param strictPools a topic that names a pool which is not defined is an error (production)
 */
export function dataFaults(place: DocumentPlace, data: Data, strictPools: boolean): DataFault[] {
  const brought = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
  if (place.scope !== 'system') return settingFaults(brought);
  if (isDefault(place)) return [...settingFaults(brought), ...tableFaults(brought, strictPools)];
  return place.scope_id === topicsScope.scope_id ? topicFaults(brought) : [];
}

/** The pools and timeouts of system/default are checked as the files are. Operations contract 4. */
function tableFaults(data: Data, strictPools: boolean): DataFault[] {
  const tables = {
    pools: (text: string) => parsePools(text, 'pools', strictPools),
    timeouts: (text: string) => parseTimeouts(text, 'timeouts'),
  };
  return Object.entries(tables).flatMap(([name, parse]) => {
    if (!Object.hasOwn(data, name)) return [];
    const parsed = parse(JSON.stringify(data[name]));
    // The line is one of JSON that nobody has seen.
    return parsed.ok ? [] : parsed.problems.map(({ path, message }) => ({ path: [name, path].filter(Boolean).join('.'), message })); // prettier-ignore
  });
}

const topicFaults = (data: Data): DataFault[] =>
  readEntries(data).faults.map((key) => ({ path: key, message: 'must be a topic registration with a known status' }));

/** Most keys at the top of a document. */
export const mostKeys = (place: DocumentPlace): number =>
  place.scope === 'system' && !isDefault(place) ? limits.registryKeys : limits.configKeys;

/** Most bytes of a document as JSON. */
export const mostBytes = (place: DocumentPlace): number => {
  if (place.scope !== 'system') return limits.configBytes.tenant;
  return isDefault(place) ? limits.configBytes.default : limits.configBytes.system;
};
