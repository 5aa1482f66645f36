import { compileCustom } from './custom';
import {
  type CheckOptions,
  type Description,
  getLimit,
  parseRegex,
  type Rule,
  type Typed,
  undecided,
} from './description';

type Test<T> = (value: T) => boolean;

export function compileAny({ rules = [] }: Description): Typed | undefined {
  const custom = compileCustom(rules);
  return custom && { check: custom };
}

/** Lengths count UTF-16 units, as in Joi. */
export function compileString({ rules = [] }: Description, { convert }: CheckOptions): Typed | undefined {
  const isTrimmed = rules.some((rule) => rule.name === 'trim' && rule.args?.['enabled'] === true);
  const tests = compileTests(
    rules.filter(({ name }) => name !== 'trim'),
    stringTest,
  );
  // Without conversion, `trim` is a test, which also affects how empty values are recognized.
  if (!tests || rules.some(({ name }) => name === 'trim') !== isTrimmed || (isTrimmed && !convert)) return undefined;
  const allowsEmpty = rules.some((rule) => rule.name === 'min' && getLimit(rule) === 0);
  return {
    ...(isTrimmed && { convert: (value: unknown) => (typeof value === 'string' ? value.trim() : value) }),
    check: (value) =>
      typeof value === 'string' && (value !== '' || allowsEmpty) && passes(tests, value) ? value : undecided,
  };
}

function stringTest(rule: Rule): Test<string> | undefined {
  const limit = getLimit(rule);
  if (limit !== undefined && rule.name === 'max') return (value) => value.length <= limit;
  if (limit !== undefined && rule.name === 'min') return (value) => value.length >= limit;
  if (limit !== undefined && rule.name === 'length') return (value) => value.length === limit;
  const isPattern = rule.name === 'pattern' && Object.keys(rule.args ?? {}).join() === 'regex';
  const regex = isPattern ? parseRegex(rule.args?.['regex']) : undefined;
  return regex && ((value) => regex.test(value));
}

/** Text that is converted here; Joi converts numbers of any other spelling. */
const plainInteger = /^(?:0|[1-9]\d{0,14})$/;

export function compileNumber({ rules = [] }: Description, { convert }: CheckOptions): Typed | undefined {
  const tests = compileTests(rules, numberTest);
  if (!tests) return undefined;
  return {
    ...(convert && {
      convert: (value: unknown) => (typeof value === 'string' && plainInteger.test(value) ? Number(value) : value),
    }),
    // Joi turns -0 into 0.
    check: (value) => (isSafe(value) && passes(tests, value) ? value + 0 : undecided),
  };
}

const isSafe = (value: unknown): value is number =>
  typeof value === 'number' && value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER;

function numberTest(rule: Rule): Test<number> | undefined {
  const limit = getLimit(rule);
  if (limit !== undefined && rule.name === 'max') return (value) => value <= limit;
  if (limit !== undefined && rule.name === 'min') return (value) => value >= limit;
  return rule.name === 'integer' ? Number.isInteger : undefined;
}

/** Text is left to Joi, which converts it in paths and queries. */
export function compileBoolean({ rules = [] }: Description): Typed | undefined {
  return rules.length > 0 ? undefined : { check: (value) => (typeof value === 'boolean' ? value : undecided) };
}

/** Undefined when one of the rules is not supported. */
function compileTests<T>(rules: readonly Rule[], testOf: (rule: Rule) => Test<T> | undefined): Test<T>[] | undefined {
  const tests = rules.map((rule) => (Object.keys(rule).length <= 2 ? testOf(rule) : undefined));
  return tests.some((test) => test === undefined) ? undefined : (tests as Test<T>[]);
}

function passes<T>(tests: readonly Test<T>[], value: T): boolean {
  for (const test of tests) if (!test(value)) return false;
  return true;
}
