import { addressForm, parseAddress } from '../address';
import { durationForm, parseDuration } from '../duration';
import type { Variable } from './declare';

const truths: Record<string, boolean> = {
  1: true, true: true, yes: true, on: true, 0: false, false: false, no: false, off: false,
}; // prettier-ignore

/** Reads a boolean; undefined when the text is none. */
export const parseBool = (text: string): boolean | undefined => truths[text.toLowerCase()];

/** Reads a variable's text by its type; undefined when the text does not fit. Families are read elsewhere. */
export function parseValue(variable: Variable, text: string): unknown {
  switch (variable.type) {
    case 'string':
    case 'path':
    case 'family':
      return text;
    case 'url':
      return URL.canParse(text) && text.includes('://') ? text : undefined;
    case 'bool':
      return parseBool(text);
    case 'address':
      return parseAddress(text);
    case 'list':
      return Object.freeze(text.split(',').map((item) => item.trim()).filter((item) => item !== '')); // prettier-ignore
    case 'int':
      return /^-?\d{1,15}$/.test(text) ? within(Number(text), variable.min, variable.max) : undefined;
    case 'number':
      return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? within(Number(text), variable.min, variable.max) : undefined;
    case 'duration':
      return within(parseDuration(text), limitMs(variable.min), limitMs(variable.max));
    case 'enum': {
      const choice = variable.spellings?.[text.toLowerCase()] ?? text.toLowerCase();
      return variable.choices.includes(choice) ? choice : undefined;
    }
  }
}

/** The form a variable expects, for messages to operators. */
export function expectedForm(variable: Variable): string {
  switch (variable.type) {
    case 'string':
    case 'family':
      return 'text';
    case 'path':
      return 'a path';
    case 'url':
      return 'a URL with its scheme';
    case 'bool':
      return 'true or false (also 1/0, yes/no, on/off)';
    case 'address':
      return addressForm;
    case 'list':
      return 'a comma-separated list';
    case 'int':
      return `a whole number${range(variable.min, variable.max)}`;
    case 'number':
      return `a number${range(variable.min, variable.max)}`;
    case 'duration':
      return `${durationForm}${range(variable.min, variable.max)}`;
    case 'enum':
      return `one of ${variable.choices.join(', ')}`;
  }
}

const limitMs = (text: string | undefined) => (text === undefined ? undefined : parseDuration(text));

function within(value: number | undefined, min = -Infinity, max = Infinity): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

function range(min?: string | number, max?: string | number): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}
