import type { RegExpEngine } from 'ajv/dist/types';
import { RE2JS } from 're2js';
import type { Budget } from './budget';
import { schemaLimits } from './limits';

/** The error of a pattern and its fix, or undefined. The same rules apply to policy patterns. */
export function patternFault(source: string): string | undefined {
  if (source.length > schemaLimits.patternChars) {
    return `is longer than ${schemaLimits.patternChars} characters: split it into several patterns`;
  }
  if (/\(\?(=|!|<=|<!)/.test(source)) {
    return 'looks ahead or behind, which the linear-time (RE2) engine does not do: match the surroundings too, or drop them';
  }
  try {
    compile(source);
    return undefined;
  } catch (error) {
    const detail = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown fault';
    return `is not a regular expression of the RE2 class: ${detail}`;
  }
}

// JSON Schema writes patterns in the JavaScript dialect: \u0041, \/ and (?<name>…) are translated.
const compile = (source: string): RE2JS => RE2JS.compile(RE2JS.translateRegExp(source));

/**
 * A pattern engine with time at most linear in text times pattern size; both are charged to the budget.
 *
 * Ajv deduplicates patterns by `toString`.
 */
export function re2Engine(budget: Budget): RegExpEngine {
  const engine = (source: string) => {
    const regex = compile(source);
    const perChar = 1 + regex.programSize() / 32;
    return {
      test(text: string): boolean {
        budget.spend(1 + text.length * perChar);
        return regex.test(text);
      },
      toString: () => `/${source}/`,
    };
  };
  // Ajv reads this only when it generates standalone code, which is not used here.
  return Object.assign(engine, { code: 're2' });
}
