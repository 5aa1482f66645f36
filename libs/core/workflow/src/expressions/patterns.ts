import { RE2JS } from 're2js';
import { EvaluationError } from './expression';
import { patternSize } from './pattern-size';
import { spend, type Pattern, type Payer, type State } from './state';
import { isNil, getKind } from './values';

const maxChars = 1_024;

/**
 * Compiles a pattern of `matches`, paying first for the largest program it can become: measured at 2.7 µs an instruction,
 * and up to 50 µs a character for classes of Unicode.
 *
 * @throws EvaluationError when it is not an RE2 pattern, too long, or exceeds the remaining steps
 */
export function compilePattern(payer: Payer, source: string): Pattern {
  if (source.length > maxChars) throw new EvaluationError(`the pattern is longer than ${maxChars} characters`);
  const size = patternSize(source);
  if (size === undefined) {
    throw new EvaluationError('the pattern quotes with \\Q: write a backslash before each sign instead');
  }
  const steps = 500 * source.length + 30 * size;
  if (steps > payer.stepsLeft) throw new EvaluationError('the pattern takes too many steps to prepare');
  spend(payer, steps);
  try {
    const regex = RE2JS.compile(source);
    return { regex, stepsPerChar: 8 + regex.programSize() / 16 };
  } catch (error) {
    const detail = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown fault';
    throw new EvaluationError(`the pattern is not of the RE2 class: ${detail}`);
  }
}

/** Whether a pattern is found anywhere in a text; not in nil. */
export function matchPattern(state: State, text: unknown, { regex, stepsPerChar }: Pattern): boolean {
  if (isNil(text)) return false;
  if (typeof text !== 'string') throw new EvaluationError(`\`matches\` searches text, not ${getKind(text)}`);
  spend(state, text.length * stepsPerChar);
  return regex.test(text);
}

/** `matches` with a pattern computed at run time. */
export function matches(state: State, text: unknown, source: unknown): boolean {
  if (isNil(source)) return false;
  if (typeof source !== 'string') throw new EvaluationError(`a pattern is text, not ${getKind(source)}`);
  const pattern = state.patterns.get(source) ?? compilePattern(state, source);
  state.patterns.set(source, pattern);
  return matchPattern(state, text, pattern);
}
