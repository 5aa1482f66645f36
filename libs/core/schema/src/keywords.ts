import { canonicalJson } from '@svc/json';
import type { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats';
import type { Budget } from './budget';
import { schemaLimits } from './limits';

/** Holds the cost of a visit; `prepare` sets it in every subschema. No dialect defines this keyword. */
export const costKeyword = 'x-svc-cost';

/** Adds the cost keyword, and a `uniqueItems` whose time is linear rather than quadratic. */
export function addKeywords(ajv: Ajv, budget: Budget): void {
  ajv.addKeyword({
    keyword: costKeyword,
    schemaType: 'number',
    before: '$ref',
    compile: (cost: number) => () => {
      budget.spend(cost);
      return true;
    },
  });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    compile: (wanted: boolean) => (items: unknown[]) => !wanted || areUnique(items, budget),
  });
}

function areUnique(items: unknown[], budget: Budget): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = canonicalJson(item);
    budget.spend(5 + text.length / 4);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

/** Base64 texts may be long, and this format is checked in linear time. */
const linear = 'byte';

/** Asserts the standard formats. Unknown formats are not checked, as the standard requires. */
export function addFormats(ajv: Ajv, budget: Budget): void {
  for (const [name, format] of Object.entries(fullFormats)) {
    const fits = toPredicate(format);
    if (!fits) {
      ajv.addFormat(name, format);
      continue;
    }
    ajv.addFormat(name, {
      type: 'string',
      validate(text: string) {
        if (name === linear) return fits(text);
        // Some of the expressions take quadratic time.
        budget.spend(1 + Math.min(text.length, schemaLimits.formatChars) ** 2 / 64);
        return text.length <= schemaLimits.formatChars && fits(text);
      },
    });
  }
}

type Fit = (text: string) => boolean;

/** The predicate of a text format; undefined for number formats, which need no budget. */
function toPredicate(format: (typeof fullFormats)[keyof typeof fullFormats]): Fit | undefined {
  if (format === true) return undefined;
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return (text) => format(text);
  if (typeof format !== 'object' || ('type' in format && format.type === 'number')) return undefined;
  const { validate } = format;
  if (validate instanceof RegExp) return (text) => validate.test(text);
  return typeof validate === 'function' ? (text) => (validate as Fit)(text) : undefined;
}
