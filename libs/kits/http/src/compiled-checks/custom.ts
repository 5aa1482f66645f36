import { type Check, type Rule, undecided } from './description';

type Method = (value: unknown, helpers: object) => unknown;

/**
 * The helpers of Joi as far as checks offer them. A function that reports an error leaves the value to Joi; one that uses
 * any other helper throws here, with the same effect.
 */
const helpers = new Proxy(Object.freeze({}), {
  get(_, name) {
    if (name === 'error' || name === 'message') return () => undecided;
    throw new Error(`checks do not offer helpers.${String(name)}`);
  },
});

/** Runs the functions of `custom()` in order. Undefined when another rule is among them. */
export function compileCustom(rules: readonly Rule[]): Check | undefined {
  const methods = rules.map(getMethod);
  if (methods.some((method) => method === undefined)) return undefined;
  return (sent) => {
    let value = sent;
    try {
      for (const method of methods as Method[]) {
        value = method(value, helpers);
        if (value === undecided) return undecided;
      }
    } catch {
      // Joi runs the function again, and reports what it throws.
      return undecided;
    }
    return value;
  };
}

function getMethod({ name, args, ...modifiers }: Rule): Method | undefined {
  const method = args?.['method'];
  const isPlain = name === 'custom' && Object.keys(modifiers).length === 0;
  return isPlain && typeof method === 'function' ? (method as Method) : undefined;
}
