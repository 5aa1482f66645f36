import type { ErrorObject } from 'ajv';
import { schemaLimits } from './limits';

/** A violation at a JSON Pointer, or at `$` for the whole value. See docs/reference/routing.md#schemas. */
export interface Violation {
  path: string;
  message: string;
}

/** A violation of the whole value. */
export const atRoot = (message: string): Violation => ({ path: '$', message });

/** Converts Ajv errors: sorted by path and message, deduplicated, and limited in number. */
export function toViolations(errors: readonly ErrorObject[]): Violation[] {
  const all = new Map<string, Violation>();
  for (const error of errors) {
    const violation = { path: error.instancePath || '$', message: toMessage(error) };
    all.set(JSON.stringify([violation.path, violation.message]), violation);
  }
  return [...all.values()].sort(byPath).slice(0, schemaLimits.violations);
}

const byPath = (a: Violation, b: Violation): number =>
  a.path === b.path ? compare(a.message, b.message) : compare(a.path, b.path);
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Ajv's message, extended by the unexpected property or the allowed values. */
function toMessage({ keyword, message, params }: ErrorObject): string {
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
