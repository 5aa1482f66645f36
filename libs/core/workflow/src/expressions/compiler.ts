import type { ASTNode } from '@marcbachmann/cel-js';
import type { References } from './references';
import { spend, type Payer, type State } from './state';

export type Run = (state: State) => unknown;

/** State of compiling one expression. */
export interface Compiler {
  readonly references: References;
  /** Step budget for literal patterns. */
  readonly payer: Payer;
  /** Variables of the predicates around a node, the innermost last; a variable's place is its slot. */
  readonly locals: string[];
  /** Compiles a node into a reusable function. @throws MeaningFault */
  compile(node: ASTNode): Run;
}

/** A semantic fault: the node parses but is not valid. */
export class MeaningFault extends Error {
  constructor(
    message: string,
    readonly celOffset: number,
  ) {
    super(message);
  }
}

export type Both = (state: State, left: unknown, right: unknown) => unknown;

/** An operator that evaluates both sides; failures are reported at `at`. */
export const both = (at: number, left: Run, right: Run, apply: Both): Run => {
  return (state) => {
    spend(state, 1);
    const a = left(state);
    const b = right(state);
    state.at = at;
    return apply(state, a, b);
  };
};
