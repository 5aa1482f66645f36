import type { ErrorObject } from 'ajv';
import { schemaLimits } from './limits';

/** One fault: where, as a JSON Pointer or `$` for the whole, and what. See docs/reference/routing.md#schemas. */
export interface Violation {
  path: string;
  message: string;
}

/** What is wrong with the whole rather than with a part of it. */
export const atRoot = (message: string): Violation => ({ path: '$', message });

/** Sorted by path, then message, without repeats, at most a hundred. */
export function violationsOf(errors: readonly ErrorObject[]): Violation[] {
  const all = new Map<string, Violation>();
  for (const error of errors) {
    const violation = { path: error.instancePath || '$', message: messageOf(error) };
    all.set(JSON.stringify([violation.path, violation.message]), violation);
  }
  return [...all.values()].sort(byPath).slice(0, schemaLimits.violations);
}

const byPath = (a: Violation, b: Violation): number =>
  a.path === b.path ? compare(a.message, b.message) : compare(a.path, b.path);
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Ajv's text, and what it leaves out: which property is not wanted, which values are. */
function messageOf({ keyword, message, params }: ErrorObject): string {
  return `${message ?? `does not fit ${keyword}`}${detail(params as Record<string, unknown>)}`.slice(
    0,
    schemaLimits.messageChars,
  );
}

function detail(params: Record<string, unknown>): string {
  const extra = params['additionalProperty'] ?? params['unevaluatedProperty'];
  if (typeof extra === 'string') return `: ${JSON.stringify(extra)}`;
  if (Array.isArray(params['allowedValues']))
    return `: ${params['allowedValues'].slice(0, 10).map(inWords).join(', ')}`;
  return 'allowedValue' in params ? `: ${inWords(params['allowedValue'])}` : '';
}

const inWords = (value: unknown): string => JSON.stringify(value).slice(0, 60);
