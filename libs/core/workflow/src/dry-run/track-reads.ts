import { isList, isMapping } from '../expressions/values';

/** Paths that were read in a value and do not exist. */
export type MissingPaths = Set<string>;

/** Wraps a value and records reads of missing entries. Expressions read own entries only. */
export function trackReads(value: unknown, path: string, missing: MissingPaths): unknown {
  if (!isList(value) && !isMapping(value)) return value;
  return new Proxy(value as object, {
    getOwnPropertyDescriptor(target, key) {
      const found = Reflect.getOwnPropertyDescriptor(target, key);
      if (!found && typeof key === 'string') missing.add(joinPath(path, key));
      return found;
    },
    get(target, key) {
      const found: unknown = Reflect.get(target, key);
      return typeof key === 'string' && Object.hasOwn(target, key)
        ? trackReads(found, joinPath(path, key), missing)
        : found;
    },
  });
}

function joinPath(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  return /^[A-Za-z_]\w*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** The plain value without tracking, as JSON. */
export const unwrapTracked = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
