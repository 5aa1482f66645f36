/** The part of Joi's `describe()` that checks are compiled from. Unknown members make a schema unsupported. */
export interface Description {
  type?: string;
  flags?: Readonly<Record<string, unknown>>;
  preferences?: Readonly<Record<string, unknown>>;
  allow?: readonly unknown[];
  rules?: readonly Rule[];
  keys?: Readonly<Record<string, Description>>;
  patterns?: readonly Readonly<Record<string, unknown>>[];
  items?: readonly Description[];
}

export interface Rule {
  name: string;
  args?: Readonly<Record<string, unknown>>;
}

/** Converts and checks a present value of one type; empty values, presence and defaults are the same for all types. */
export interface Typed {
  convert?: (value: unknown) => unknown;
  check: Check;
}

/** Preferences of the validation that affect accepted values. */
export interface CheckOptions {
  /** Joi's `convert`. */
  convert: boolean;
  /** Joi's `stripUnknown` for objects. */
  stripUnknown: boolean;
}

/** Returned for a value that Joi must validate: an invalid one, or one that a check does not support. */
export const undecided: unique symbol = Symbol('undecided');
export type Undecided = typeof undecided;

/** The value that Joi returns for a valid value, or `undecided`. */
export type Check = (value: unknown) => unknown;

/** Compiles the check of a nested schema; undefined when it uses a rule that is not supported. */
export type Compile = (description: Description, options: CheckOptions) => Check | undefined;

/** Whether an object has only these members. */
export const hasOnly = (members: object, allowed: ReadonlySet<string>): boolean =>
  Object.keys(members).every((name) => allowed.has(name));

/** Joi's `describe()` represents a regular expression by its text. */
export function parseRegex(text: unknown): RegExp | undefined {
  const [, source, flags] = typeof text === 'string' ? (/^\/(.*)\/([a-z]*)$/s.exec(text) ?? []) : [];
  return source === undefined ? undefined : new RegExp(source, flags);
}

/** The numeric limit of a rule; undefined for a reference to another field, and for a limit of encoded bytes. */
export function getLimit({ args = {} }: Rule): number | undefined {
  const { limit, ...others } = args;
  return typeof limit === 'number' && Object.values(others).every((value) => value === undefined) ? limit : undefined;
}
