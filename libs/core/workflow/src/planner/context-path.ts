import { isRecord } from '@svc/json';

/** `ctx.totals.crates` and `totals.crates` are the same path. */
export const contextPath = (text: string): string[] => text.replace(/^ctx\./, '').split('.');

/** An object or a list, whose items are its fields. */
const hasFields = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The value at a path, or undefined. List items by index. */
export function readPath(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const key of path) {
    if (!hasFields(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Copy-on-write update of one path. @param value undefined removes the entry */
export function writePath(
  root: Record<string, unknown>,
  [key, ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  if (key === undefined) return root;
  const inner = Object.hasOwn(root, key) ? root[key] : undefined;
  const next = rest.length > 0 ? writePath(isRecord(inner) ? inner : {}, rest, value) : value;
  // By entries: assigning `__proto__` would set the prototype instead of a field.
  const others = Object.entries(root).filter(([name]) => name !== key);
  return Object.fromEntries(next === undefined ? others : [...others, [key, next]]);
}

/** Paths that are reserved for the run itself. See docs/reference/workflows.md#expressions. */
export const isReserved = ([first]: readonly string[]): boolean => first === 'steps' || first === '__proto__';
