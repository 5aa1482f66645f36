import type { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats';
import type { Budget } from './budget';
import { canonicalJson } from './canonical-json';
import { schemaLimits } from './limits';

/** Set by `prepare` in every subschema: what a visit costs. Its name is no keyword of any dialect. */
export const costKeyword = 'x-svc-cost';

/** The keywords that are ours: the toll at every subschema, and a `uniqueItems` that does not compare all with all. */
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

/** Base64, which may well be long. */
const linear = 'byte';

/** The usual formats, asserted. Formats that are not known are left unchecked, as the standard asks. */
export function addFormats(ajv: Ajv, budget: Budget): void {
  for (const [name, format] of Object.entries(fullFormats)) {
    const fits = fitOf(format);
    if (!fits) {
      ajv.addFormat(name, format);
      continue;
    }
    ajv.addFormat(name, {
      type: 'string',
      validate(text: string) {
        if (name === linear) return fits(text);
        // Some expressions look at every part of the text from every place in it.
        budget.spend(1 + Math.min(text.length, schemaLimits.formatChars) ** 2 / 64);
        return text.length <= schemaLimits.formatChars && fits(text);
      },
    });
  }
}

type Fit = (text: string) => boolean;

/** How a text is told to fit; undefined for formats of numbers, which cost nothing and stay as they are. */
function fitOf(format: (typeof fullFormats)[keyof typeof fullFormats]): Fit | undefined {
  if (format === true) return undefined;
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return (text) => format(text);
  if (typeof format !== 'object' || ('type' in format && format.type === 'number')) return undefined;
  const { validate } = format;
  if (validate instanceof RegExp) return (text) => validate.test(text);
  return typeof validate === 'function' ? (text) => (validate as Fit)(text) : undefined;
}
