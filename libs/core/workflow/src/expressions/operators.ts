import { EvaluationError } from './expression';
import { spend, spendChars, type State } from './state';
import { getEntry, equal, isList, isMapping, isNil, getKind } from './values';

type Binary = (state: State, left: unknown, right: unknown) => unknown;

const arithmetic = (verb: string, apply: (a: number, b: number) => number): Binary => {
  return (_state, a, b) => {
    if (typeof a !== 'number' || typeof b !== 'number') throw mismatch(verb, a, b);
    return finite(apply(a, b));
  };
};

/** Rejects division by zero and overflow, whose results JSON cannot represent. */
function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new EvaluationError('the number is too large, or was divided by zero');
}

const mismatch = (verb: string, a: unknown, b: unknown) =>
  new EvaluationError(`cannot ${verb} ${getKind(a)} and ${getKind(b)}`);

export function add(state: State, a: unknown, b: unknown): unknown {
  if (typeof a === 'number' && typeof b === 'number') return finite(a + b);
  if (typeof a === 'string' && typeof b === 'string') {
    spendChars(state, a.length + b.length);
    return a + b;
  }
  if (!isList(a) || !isList(b)) throw mismatch('add', a, b);
  spend(state, a.length + b.length);
  return [...a, ...b];
}

export const power = arithmetic('raise', (a, b) => a ** b);

export function negate(value: unknown): number {
  if (typeof value !== 'number') throw new EvaluationError(`cannot take the negative of ${getKind(value)}`);
  return -value;
}

const comparison = (holds: (order: number) => boolean): Binary => {
  return (state, a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return holds(a - b);
    if (typeof a !== 'string' || typeof b !== 'string') throw mismatch('compare', a, b);
    spendChars(state, Math.min(a.length, b.length));
    return holds(a < b ? -1 : Number(a > b));
  };
};

/** `value in list`, `key in map`, `part in text`; nothing is in nil. */
export function isIn(state: State, value: unknown, whole: unknown): boolean {
  if (isNil(whole)) return false;
  if (isList(whole)) return whole.some((item) => equal(state, item, value));
  if (isMapping(whole)) return typeof value === 'string' && getEntry(whole, value) !== undefined;
  if (typeof whole !== 'string')
    throw new EvaluationError(`\`in\` searches a list, a map or text, not ${getKind(whole)}`);
  return contains(state, whole, value);
}

const textTest = (name: string, test: (text: string, part: string) => boolean) => {
  return (state: State, text: unknown, part: unknown): boolean => {
    // A missing value contains nothing: a missing member is nil, not an error.
    if (isNil(text) || isNil(part)) return false;
    if (typeof text !== 'string' || typeof part !== 'string') {
      throw new EvaluationError(`\`${name}\` compares texts, not ${getKind(text)} and ${getKind(part)}`);
    }
    spendChars(state, text.length + part.length);
    return test(text, part);
  };
};

const textContains = textTest('contains', (text, part) => text.includes(part));

export const contains = (state: State, whole: unknown, part: unknown): boolean =>
  isList(whole) ? isIn(state, part, whole) : textContains(state, whole, part);
export const startsWith = textTest('startsWith', (text, part) => text.startsWith(part));
export const endsWith = textTest('endsWith', (text, part) => text.endsWith(part));

/** Binary operators that evaluate both sides. */
export const binaryOperators: Readonly<Record<string, Binary>> = {
  '==': equal,
  '!=': (state, a, b) => !equal(state, a, b),
  '<': comparison((order) => order < 0),
  '<=': comparison((order) => order <= 0),
  '>': comparison((order) => order > 0),
  '>=': comparison((order) => order >= 0),
  '+': add,
  '-': arithmetic('subtract', (a, b) => a - b),
  '*': arithmetic('multiply', (a, b) => a * b),
  '/': arithmetic('divide', (a, b) => a / b),
  '%': arithmetic('take the remainder of', (a, b) => a % b),
  in: isIn,
};
