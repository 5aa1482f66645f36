import { isList, isMapping } from '../expressions/values';

/** Paths that were looked for in a value and are not there. */
export type Missing = Set<string>;

/** Looks like the value; what is looked for in it in vain is noted. Expressions ask for own entries only. */
export function watched(value: unknown, path: string, missing: Missing): unknown {
  if (!isList(value) && !isMapping(value)) return value;
  return new Proxy(value as object, {
    getOwnPropertyDescriptor(target, key) {
      const found = Reflect.getOwnPropertyDescriptor(target, key);
      if (!found && typeof key === 'string') missing.add(joined(path, key));
      return found;
    },
    get(target, key) {
      const found: unknown = Reflect.get(target, key);
      return typeof key === 'string' && Object.hasOwn(target, key) ? watched(found, joined(path, key), missing) : found;
    },
  });
}

function joined(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  return /^[A-Za-z_]\w*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** The value itself again, as JSON has it. */
export const unwatched = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
