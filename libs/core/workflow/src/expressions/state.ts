import type { RE2JS } from 're2js';
import { EvaluationError, type Scope } from './expression';

/**
 * Steps per millisecond of `timeoutMs`. A step is a node of the expression, an element visited or sixteen characters read;
 * measured at 30 to 100 ns on a slow core, so the steps run out before the time does.
 */
const stepsPerMs = 10_000;

/** Characters handled for one step. */
const charsPerStep = 16;

/** A step budget. */
export interface Payer {
  stepsLeft: number;
}

/** A regular expression of an engine whose time grows only with the text. */
export interface Pattern {
  regex: RE2JS;
  /** Worst-case steps per character of text, with every instruction of the program active. */
  stepsPerChar: number;
}

/** State of one evaluation. */
export interface State extends Payer {
  readonly scope: Scope;
  /** Values of `#` and of named variables of predicates, by slot. */
  readonly slots: unknown[];
  /** Patterns computed at run time, cached for the evaluation. */
  readonly patterns: Map<string, Pattern>;
  /** Offset of the current operation in the CEL text, for the position of failures. */
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
 * Charges steps before the work is done. Everything whose cost grows with data (predicate rounds, comparing, joining,
 * copying, matching, counting the result) is charged here; there are no other loops.
 *
 * @throws EvaluationError when the steps are used up
 */
export function spend(state: Payer, steps: number): void {
  state.stepsLeft -= steps;
  if (state.stepsLeft < 0) throw new EvaluationError('the evaluation takes too many steps');
}

export const spendChars = (state: Payer, chars: number): void => spend(state, chars / charsPerStep);
