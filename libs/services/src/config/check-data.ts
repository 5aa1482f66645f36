import { limits, printProblem, settingFaults, type Problem, type SettingFault } from '@svc/contract';
import { parsePolicy, policyPlace } from '@svc/policy';
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
 * What is wrong with the keys that a write brings. null, which removes a key, is never wrong, and keys that nobody here
 * reads are not looked at.
 */
export function dataFaults(place: DocumentPlace, data: Data): DataFault[] {
  const brought = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
  if (place.scope !== 'system') return settingFaults(brought);
  if (isDefault(place)) return [...settingFaults(brought), ...tableFaults(brought)];
  if (place.scope_id === policyPlace.scope_id) return bundleFaults(brought);
  return place.scope_id === topicsScope.scope_id ? topicFaults(brought) : [];
}

/** The pools and timeouts of system/default are checked as the files are. Operations contract 4. */
function tableFaults(data: Data): DataFault[] {
  const tables = {
    pools: (text: string) => parsePools(text, 'pools', false),
    timeouts: (text: string) => parseTimeouts(text, 'timeouts'),
  };
  return Object.entries(tables).flatMap(([name, parse]) => {
    if (!Object.hasOwn(data, name)) return [];
    const parsed = parse(JSON.stringify(data[name]));
    // The line is one of JSON that nobody has seen.
    return parsed.ok ? [] : parsed.problems.map(({ path, message }) => ({ path: [name, path].filter(Boolean).join('.'), message })); // prettier-ignore
  });
}

/** Each bundle must be one that could be put by itself. Policy contract 6. */
function bundleFaults(data: Data): DataFault[] {
  if (!Object.hasOwn(data, 'bundles')) return [];
  const { bundles } = data;
  if (!isRecord(bundles)) return [{ path: 'bundles', message: 'must be a map of bundle ids to records' }];
  return Object.entries(bundles).flatMap(([id, bundle]): DataFault[] => {
    const path = `bundles.${id}`;
    if (!isRecord(bundle) || typeof bundle['content'] !== 'string')
      return [{ path, message: 'must be a record with a text `content`' }];
    const parsed = parsePolicy(bundle['content'], { source: id, mode: 'write' });
    return parsed.ok ? [] : parsed.problems.map((problem) => contentFault(path, problem));
  });
}

const contentFault = (path: string, problem: Problem): DataFault => ({
  path: `${path}.content`,
  message: printProblem(problem),
  line: problem.line,
  column: problem.column,
});

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

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
