import type { ASTNode } from '@marcbachmann/cel-js';
import type { References } from './references';
import { spend, type Payer, type State } from './state';

export type Run = (state: State) => unknown;

/** What compiling one expression carries along. */
export interface Compiler {
  readonly references: References;
  /** Pays for the patterns that are literals. */
  readonly payer: Payer;
  /** Variables of the predicates around a node, the innermost last; a variable's place is its slot. */
  readonly locals: string[];
  /** Turns a node into a function, which is run as often as wanted. @throws MeaningFault */
  compile(node: ASTNode): Run;
}

/** A fault of a node that parses but means nothing. */
export class MeaningFault extends Error {
  constructor(
    message: string,
    readonly celOffset: number,
  ) {
    super(message);
  }
}

export type Both = (state: State, left: unknown, right: unknown) => unknown;

/** An operator whose sides are both looked at; when it fails, the failure is told to be at `at`. */
export const both = (at: number, left: Run, right: Run, apply: Both): Run => {
  return (state) => {
    spend(state, 1);
    const a = left(state);
    const b = right(state);
    state.at = at;
    return apply(state, a, b);
  };
};
