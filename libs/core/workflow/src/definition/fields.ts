import { isRecord } from '@svc/json';
import type { Faults, Path } from './faults';
import { hint } from './nearest';

/** Reads a value; adds a fault and returns undefined when it is invalid. */
export type Field<T> = (value: unknown, path: Path, faults: Faults) => T | undefined;
export type FieldTable<T> = {
  readonly [K in keyof T]-?: Field<unknown extends T[K] ? unknown : NonNullable<T[K]>>;
};

/** Whether a value is a template, whose result is known only in a run. */
export const isTemplate = (value: unknown): boolean => typeof value === 'string' && /(?<!\$)\$\{/.test(value);

export function text(maxChars: number, pattern?: { fits: RegExp; message: string }): Field<string> {
  return (value, path, faults) => {
    if (typeof value !== 'string') return fault(faults, path, `must be a string, not ${describeKind(value)}`);
    if (value.length > maxChars) return fault(faults, path, `is ${value.length} characters long: at most ${maxChars}`);
    return pattern && !pattern.fits.test(value) ? fault(faults, path, pattern.message) : value;
  };
}

export function oneOf<const Word extends string>(words: readonly Word[]): Field<Word> {
  return (value, path, faults) => {
    const word = words.find((known) => known === value);
    if (word !== undefined) return word;
    const meant = () => (typeof value === 'string' ? hint(value, words) : '');
    faults.add(path, () => `must be one of ${words.join(', ')}${meant()}`);
    return undefined;
  };
}

export function number(min: number, max: number): Field<number> {
  return (value, path, faults) =>
    typeof value === 'number' && value >= min && value <= max
      ? value
      : fault(faults, path, `must be a number from ${min} to ${max}`);
}

export function integer(min: number, max: number): Field<number> {
  return (value, path, faults) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? value
      : fault(faults, path, `must be a whole number from ${min} to ${max}`);
}

export const flag: Field<boolean> = (value, path, faults) =>
  typeof value === 'boolean' ? value : fault(faults, path, 'must be true or false');

export const object: Field<Record<string, unknown>> = (value, path, faults) =>
  isRecord(value) ? value : fault(faults, path, `must be an object, not ${describeKind(value)}`);

/** Any JSON, including null and the empty string. */
export const json: Field<unknown> = (value) => value;

/** An invalid item becomes '', so that the others keep their index. */
export function texts(maxItems: number, maxChars: number): Field<string[]> {
  const item = text(maxChars);
  return (value, path, faults) => {
    if (!Array.isArray(value)) return fault(faults, path, `must be a list of strings, not ${describeKind(value)}`);
    if (value.length > maxItems) return fault(faults, path, `has ${value.length} items: at most ${maxItems}`);
    return value.map((one: unknown, index) => {
      if (one === '') faults.add([...path, index], 'is empty: set a string, or remove it');
      return item(one, [...path, index], faults) ?? '';
    });
  };
}

export function textMap(maxEntries: number, maxChars: number): Field<Record<string, string>> {
  const entry = text(maxChars);
  return (value, path, faults) => {
    const map = object(value, path, faults);
    if (!map) return undefined;
    const entries = Object.entries(map);
    if (entries.length > maxEntries) return fault(faults, path, `has ${entries.length} entries: at most ${maxEntries}`);
    return Object.fromEntries(entries.flatMap(([key, one]) => keep(key, entry(one, [...path, key], faults))));
  };
}

export function listOf<T>(maxItems: number, item: Field<T>): Field<T[]> {
  return (value, path, faults) => {
    if (!Array.isArray(value)) return fault(faults, path, `must be a list, not ${describeKind(value)}`);
    if (value.length > maxItems) return fault(faults, path, `has ${value.length} items: at most ${maxItems}`);
    return value.flatMap((one: unknown, index) => item(one, [...path, index], faults) ?? []);
  };
}

/**
 * An object of known fields. null and the empty string count as absent, because clients write unset fields in either way.
 *
 * @param ignored fields that are known but not read
 */
export function fields<T>(
  table: FieldTable<T>,
  { required = [], ignored = [] }: { required?: readonly (keyof T & string)[]; ignored?: readonly string[] } = {},
): Field<T> {
  const readers: Readonly<Record<string, Field<unknown>>> = table;
  return (value, path, faults) => {
    const record = object(value, path, faults);
    if (!record) return undefined;
    const entries = Object.entries(record).flatMap(([key, one]) => {
      const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
      if (!reader && !ignored.includes(key)) faults.add([...path, key], () => unknownField(key, Object.keys(readers)));
      if (!reader || (reader !== json && isAbsent(one))) return [];
      return keep(key, reader(one, [...path, key], faults));
    });
    for (const key of required) {
      if (isAbsent(record[key])) faults.add([...path, key], 'is required');
    }
    // The fields have the types of T; the caller reports absent required fields.
    return Object.fromEntries(entries) as T;
  };
}

export const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';
export const unknownField = (key: string, known: readonly string[]): string =>
  `is not a known field: remove it${hint(key, known)}`;

const keep = <T>(key: string, value: T | undefined): [string, T][] => (value === undefined ? [] : [[key, value]]);

function fault(faults: Faults, path: Path, message: string): undefined {
  faults.add(path, message);
}

const describeKind = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};
