import type { RE2JS } from 're2js';
import { EvaluationError, type Scope } from './expression';

/**
 * Steps that one millisecond of `timeoutMs` pays for. A step is a node of the expression, an element looked at or sixteen
 * characters read; measured at 30 to 100 ns on a slow core, so the count runs out before the time does.
 */
const stepsPerMs = 10_000;

/** Characters handled for one step. */
const charsPerStep = 16;

/** Whoever has steps to spend. */
export interface Payer {
  stepsLeft: number;
}

/** A regular expression of an engine whose time grows only with the text. */
export interface Pattern {
  regex: RE2JS;
  /** What one character of text may cost, when every instruction of the program is alive at it. */
  stepsPerChar: number;
}

/** One evaluation under way. */
export interface State extends Payer {
  readonly scope: Scope;
  /** Values of `#` and of named variables of predicates, by slot. */
  readonly slots: unknown[];
  /** Patterns that were no literals, kept while the evaluation lasts. */
  readonly patterns: Map<string, Pattern>;
  /** Offset, in the CEL text, of the operation under way: where a failure is told to be. */
  at: number;
}

export const newState = (scope: Scope, timeoutMs: number): State => ({
  scope,
  slots: [],
  patterns: new Map(),
  stepsLeft: timeoutMs * stepsPerMs,
  at: 0,
});

/**
 * Pays for work before it is done. Everything whose cost grows with data (a predicate's rounds, comparing, joining,
 * copying, matching, counting the result) pays here, and nothing else can take long: there are no loops but these.
 *
 * @throws EvaluationError when the steps are used up
 */
export function spend(state: Payer, steps: number): void {
  state.stepsLeft -= steps;
  if (state.stepsLeft < 0) throw new EvaluationError('the evaluation takes too many steps');
}

export const spendChars = (state: Payer, chars: number): void => spend(state, chars / charsPerStep);
