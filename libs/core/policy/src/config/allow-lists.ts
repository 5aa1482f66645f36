/*
 * An allow list of one document is an array of globs. The effective configuration of several documents holds an array of such
 * arrays: a value is allowed when it matches an entry of each. That is exact for any globs, and lists without a common entry
 * allow nothing, where an empty intersection would read as "no restriction".
 */

/** The lists of a setting; a value that is not an array is returned unchanged, so that a reader can reject it. */
export const splitAllowLists = (value: unknown): unknown[] => (isListOfLists(value) ? value : [value]);

const isListOfLists = (value: unknown): value is unknown[][] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => Array.isArray(item) && item.length > 0);

/** The lists of a setting that restrict; entries that are not strings are ignored. */
export const readAllowLists = (value: unknown): string[][] =>
  splitAllowLists(value)
    .map(readStrings)
    .filter((list) => list.length > 0);

/** The strings of a list; any other value reads as empty. */
export const readStrings = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((item): item is string => typeof item === 'string') : [];

/** The allow lists of several documents as one setting. The order of documents and entries makes no difference. */
export function joinAllowLists(values: readonly unknown[]): unknown {
  const lists = values.flatMap(splitAllowLists).filter((list) => !(Array.isArray(list) && list.length === 0));
  const [only, ...others] = lists;
  if (only === undefined || others.length === 0) return only ?? [];
  const sorted = sortUnique(lists.map((list) => (Array.isArray(list) ? sortUnique(list as unknown[]) : list)));
  const needed = sorted.filter((list) => !sorted.some((other) => other !== list && includesAll(list, other)));
  return needed.length === 1 ? needed[0] : needed;
}

/** A list that contains all entries of another is redundant, since the other is stricter. */
function includesAll(list: unknown, other: unknown): boolean {
  if (!Array.isArray(list) || !Array.isArray(other)) return false;
  const entries = new Set<unknown>(list);
  // An unreadable list is kept, since a reader may have to reject it.
  return [...list, ...other].every((entry) => typeof entry === 'string') && other.every((entry) => entries.has(entry));
}

/** Without duplicates, in an order that depends on the entries only. */
export function sortUnique(entries: readonly unknown[]): unknown[] {
  const byText = new Map(entries.map((entry) => [JSON.stringify(entry), entry]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}
