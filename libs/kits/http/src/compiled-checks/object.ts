import { compileCustom } from './custom';
import {
  type Check,
  type CheckOptions,
  type Compile,
  type Description,
  getLimit,
  parseRegex,
  type Rule,
  type Typed,
  undecided,
} from './description';

interface Pattern {
  regex: RegExp;
  check: Check;
}

type Fields = Record<string, unknown>;

/** Objects of declared fields, of fields whose names match patterns, or of any fields. */
export function compileObject(description: Description, options: CheckOptions, compile: Compile): Typed | undefined {
  const { rules = [], keys, patterns, flags = {} } = description;
  const bounds = rules.filter(({ name }) => name !== 'custom');
  const isBounded = bounds.map(buildSizeCheck);
  const custom = compileCustom(rules.filter(({ name }) => name === 'custom'));
  if (!custom || isBounded.some((bound) => bound === undefined)) return undefined;
  // Joi applies the rules in their order, and a function might change the number of fields.
  if (bounds.length > 0 && rules.length > bounds.length && rules[0]?.name === 'custom') return undefined;

  const fields = compileFields(keys ?? {}, options, compile);
  const named = compilePatterns(patterns ?? [], options, compile);
  if (!fields || !named) return undefined;
  const isOpen = !keys && !patterns;
  const unknownFields = isOpen ? 'keep' : onUnknown(flags['unknown'], options);
  const check = isOpen ? (value: Fields) => value : fieldsCheck(fields, named, unknownFields);
  return {
    check: (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return undecided;
      const checked = check(value as Fields);
      if (checked === undecided) return undecided;
      if (isBounded.length > 0) {
        const size = Object.keys(checked).length;
        for (const bound of isBounded) if (!bound?.(size)) return undecided;
      }
      return custom(checked);
    },
  };
}

/** Copies and checks an object. The order of its fields is kept, and absent fields with a default follow, as in Joi. */
function fieldsCheck(
  fields: ReadonlyMap<string, Check>,
  patterns: readonly Pattern[],
  unknownFields: 'keep' | 'strip' | 'refuse',
): (value: Fields) => Fields | typeof undecided {
  // Only a required field or one with a default does anything while it is absent.
  const completed = [...fields].filter(([, check]) => check(undefined) !== undefined);
  return (value) => {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && !isBare(prototype)) return undecided;
    // Joi keeps the prototype.
    const copy = (prototype === Object.prototype ? {} : Object.create(prototype as object | null)) as Fields;
    for (const name of Object.keys(value)) {
      // Assigning it would set the prototype.
      if (name === '__proto__') return undecided;
      const sent = value[name];
      const known = fields.get(name);
      const check = known ?? patterns.find(({ regex }) => regex.test(name))?.check;
      if (check) {
        const checked = check(sent);
        if (checked === undecided) return undecided;
        if (checked !== undefined || sent === undefined || !known) copy[name] = checked;
      } else if (unknownFields === 'keep') copy[name] = sent;
      else if (unknownFields === 'refuse') return undecided;
    }
    for (const [name, check] of completed) {
      if (Object.hasOwn(value, name)) continue;
      const made = check(undefined);
      if (made === undecided) return undecided;
      copy[name] = made;
    }
    return copy;
  };
}

/** Whether a prototype has no members, as that of the router's parameters. */
const isBare = (prototype: unknown): boolean =>
  prototype === null ||
  (Object.getPrototypeOf(prototype) === null && Reflect.ownKeys(prototype as object).length === 0);

/** Undefined when a field is not supported. */
function compileFields(
  keys: Readonly<Record<string, Description>>,
  options: CheckOptions,
  compile: Compile,
): Map<string, Check> | undefined {
  const fields = new Map<string, Check>();
  for (const [name, description] of Object.entries(keys)) {
    const check = compile(description, options);
    // Joi reads fields through the prototype.
    if (!check || name in Object.prototype) return undefined;
    fields.set(name, check);
  }
  return fields;
}

function compilePatterns(
  patterns: readonly Readonly<Record<string, unknown>>[],
  options: CheckOptions,
  compile: Compile,
): Pattern[] | undefined {
  const compiled = patterns.map(({ regex: text, rule, ...others }) => {
    const regex = parseRegex(text);
    const check = Object.keys(others).length === 0 ? compile(rule as Description, options) : undefined;
    return regex && check && { regex, check };
  });
  return compiled.some((pattern) => pattern === undefined) ? undefined : (compiled as Pattern[]);
}

function onUnknown(flag: unknown, { stripUnknown }: CheckOptions): 'keep' | 'strip' | 'refuse' {
  if (flag === true) return 'keep';
  return stripUnknown && flag === undefined ? 'strip' : 'refuse';
}

/** A rule about the number of fields; undefined for any other. */
function buildSizeCheck(rule: Rule): ((size: number) => boolean) | undefined {
  const limit = getLimit(rule);
  if (limit === undefined || Object.keys(rule).length > 2) return undefined;
  if (rule.name === 'max') return (size) => size <= limit;
  if (rule.name === 'min') return (size) => size >= limit;
  return rule.name === 'length' ? (size) => size === limit : undefined;
}
