import { isRecord } from '@svc/json';
import { EvaluationError } from './expression';
import { spend, spendChars, type State } from './state';

export type Mapping = Readonly<Record<string, unknown>>;

const hidden = new Set<unknown>(['__proto__', 'constructor', 'prototype']);
/** JavaScript internals: never readable, never created as keys. */
export const isHidden = (key: unknown): boolean => hidden.has(key);
/** Deeper data is rejected: comparison and serialization are recursive. */
const maxDepth = 500;

export const isNil = (value: unknown): value is null | undefined => value === null || value === undefined;
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
export const isMapping: (value: unknown) => value is Mapping = isRecord;

/** Type name for messages. */
export function getKind(value: unknown): string {
  if (isNil(value)) return 'nil';
  if (isList(value)) return 'a list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'boolean') return 'true or false';
  return isMapping(value) ? 'a map' : `a ${typeof value}`;
}

/** Own entry of a map; functions, JavaScript internals and inherited members are not readable. */
export function getEntry(map: Mapping, key: string): unknown {
  if (isHidden(key) || !Object.hasOwn(map, key)) return undefined;
  const value = map[key];
  return typeof value === 'function' ? undefined : value;
}

/** `receiver.key`, `receiver[key]`: undefined without such a member. */
export function getMember(receiver: unknown, key: unknown): unknown {
  if (isList(receiver)) return typeof key === 'number' && Number.isInteger(key) ? receiver[key] : undefined;
  if (!isMapping(receiver)) return undefined;
  return typeof key === 'string' || typeof key === 'number' ? getEntry(receiver, String(key)) : undefined;
}

export const getKeys = (map: Mapping): string[] => Object.keys(map).filter((key) => !isHidden(key));

/** Adds an own entry whatever its name; an absent value adds none. */
export function setEntry(state: State, map: Record<string, unknown>, key: unknown, value: unknown): void {
  if (typeof key !== 'string' && typeof key !== 'number') {
    throw new EvaluationError(`a key of a map must be text, not ${getKind(key)}`);
  }
  const name = String(key);
  if (isHidden(name)) throw new EvaluationError(`\`${name}\` cannot be a key of a map`);
  spendChars(state, name.length);
  if (value !== undefined) map[name] = value;
}

/** Equal in content; nil equals absent, numbers know no int and float. */
export function equal(state: State, a: unknown, b: unknown, depth = 0): boolean {
  spend(state, 1);
  if (a === b) return true;
  if (isNil(a) || isNil(b)) return isNil(a) && isNil(b);
  if (typeof a === 'string' && typeof b === 'string') return false;
  if (depth > maxDepth) throw new EvaluationError('the data is nested too deeply');
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, i) => equal(state, item, b[i], depth + 1));
  }
  if (!isMapping(a) || !isMapping(b)) return false;
  const keys = Object.keys(a);
  spend(state, keys.length);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(state, a[key], b[key], depth + 1))
  );
}

/**
 * Counts the items of lists and maps in a value, including nested ones, and charges steps for it.
 *
 * @throws EvaluationError when there are more than `maxItems` or they are nested too deeply
 */
export function measure(state: State, value: unknown, maxItems: number): void {
  let items = 0;
  const look = (part: unknown, depth: number): void => {
    if (typeof part !== 'object' || part === null) return;
    if (depth > maxDepth) throw new EvaluationError('the data is nested too deeply');
    const parts: readonly unknown[] = isList(part) ? part : Object.values(part);
    items += parts.length;
    if (items > maxItems) throw new EvaluationError(`the result has more than ${maxItems} items`);
    spend(state, 1 + parts.length);
    for (const one of parts) look(one, depth + 1);
  };
  look(value, 0);
}

/** A value as part of a text: empty for nil, JSON for lists and maps. */
export function toText(state: State, value: unknown): string {
  if (typeof value === 'string') return value;
  if (isNil(value)) return '';
  if (typeof value !== 'object') return String(value);
  chargeForJson(state, value, 0);
  return JSON.stringify(value);
}

function chargeForJson(state: State, value: unknown, depth: number): void {
  spend(state, 1);
  if (typeof value === 'string') spendChars(state, value.length);
  if (typeof value !== 'object' || value === null) return;
  if (depth > maxDepth) throw new EvaluationError('the data is nested too deeply');
  for (const [key, part] of Object.entries(value)) {
    if (!isList(value)) spendChars(state, key.length);
    chargeForJson(state, part, depth + 1);
  }
}
