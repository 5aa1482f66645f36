import { EvaluationError } from './expression';
import { contains, endsWith, startsWith } from './operators';
import { matches } from './patterns';
import { spend, spendChars, type State } from './state';
import { isList, isMapping, isNil, getKeys, getKind, toText } from './values';

/** A function of the language; as a method its receiver is the first argument. */
export interface Builtin {
  arity: number;
  run(state: State, ...args: unknown[]): unknown;
}

const mismatch = (name: string, wanted: string, value: unknown) =>
  new EvaluationError(`${name}() takes ${wanted}, not ${getKind(value)}`);

/** Unicode characters of a text, items of a list, entries of a map. */
const length = one(0, (state, value) => {
  if (isList(value)) return value.length;
  if (typeof value === 'string') {
    spend(state, value.length / 8);
    let characters = 0;
    for (const _ of value) characters += 1;
    return characters;
  }
  if (!isMapping(value)) throw mismatch('length', 'text, a list or a map', value);
  return getKeys(value).length;
});

const float = one(undefined, (_state, value) => {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') throw mismatch('float', 'text or a number', value);
  const text = value.trim();
  const parsed = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(parsed)) throw new EvaluationError('the text is not a number');
  return parsed;
});

const int: Builtin = { arity: 1, run: (state, value) => withoutFraction(float.run(state, value)) };
const withoutFraction = (value: unknown) => (typeof value === 'number' ? Math.trunc(value) : value);

/** Functions by name; `size` and `double` are CEL's names, the text tests are methods there. */
export const builtins: Readonly<Record<string, Builtin>> = {
  length,
  len: length,
  size: length,
  first: ofList('first', (list) => list[0]),
  last: ofList('last', (list) => list.at(-1)),
  lower: ofText('lower', (text) => text.toLowerCase()),
  upper: ofText('upper', (text) => text.toUpperCase()),
  trim: ofText('trim', (text) => text.trim()),
  int,
  float,
  double: float,
  string: { arity: 1, run: toText },
  keys: ofMap('keys', getKeys),
  values: ofMap('values', (map) => getKeys(map).map((key) => map[key] ?? null)),
  now: { arity: 0, run: ({ scope }) => nowMs(scope) },
  contains: { arity: 2, run: contains },
  startsWith: { arity: 2, run: startsWith },
  endsWith: { arity: 2, run: endsWith },
  matches: { arity: 2, run: matches },
};

/** Returns `ofNil` for nil: a missing value is not an error, and a missing list is empty. */
function one(ofNil: unknown, run: (state: State, value: unknown) => unknown): Builtin {
  return { arity: 1, run: (state, value) => (isNil(value) ? ofNil : run(state, value)) };
}

function ofText(name: string, change: (text: string) => string): Builtin {
  return one(undefined, (state, value) => {
    if (typeof value !== 'string') throw mismatch(name, 'text', value);
    spendChars(state, value.length);
    return change(value);
  });
}

function ofList(name: string, pick: (list: readonly unknown[]) => unknown): Builtin {
  return one(undefined, (_state, value) => {
    if (!isList(value)) throw mismatch(name, 'a list', value);
    return pick(value);
  });
}

function ofMap(name: string, list: (map: Readonly<Record<string, unknown>>) => unknown[]): Builtin {
  return {
    arity: 1,
    run(state, value) {
      if (isNil(value)) return [];
      if (!isMapping(value)) throw mismatch(name, 'a map', value);
      const items = list(value);
      spend(state, items.length);
      return items;
    },
  };
}

/** The caller's clock: scope entry `$now`, Unix time in ms, which expressions cannot name. */
function nowMs(scope: Readonly<Record<string, unknown>>): number {
  const now = Object.hasOwn(scope, '$now') ? scope['$now'] : undefined;
  if (typeof now !== 'number') throw new EvaluationError('now() is not known here');
  return now;
}
