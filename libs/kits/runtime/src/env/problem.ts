/** A problem in the environment that an operator has to fix. */
export interface Problem {
  /** The variable. */
  name: string;
  /** The value; masked when secret, absent when unset. */
  given?: string;
  /** The form or condition that was expected. */
  expected: string;
  /** Instruction to the operator. */
  fix: string;
}

/** The environment prevents startup; `problems` lists every problem, not only the first. */
export class EnvError extends Error {
  override readonly name = 'EnvError';

  constructor(
    readonly service: string,
    readonly problems: readonly Problem[],
  ) {
    super(`${service}: ${problems.length} problem(s) in the environment\n${problems.map(formatProblem).join('\n')}`);
  }
}

/** One problem as a line of text. */
export const formatProblem = ({ name, given, expected, fix }: Problem): string =>
  `  ${name}${given === undefined ? ' is not set' : ` is ${given}`}: expected ${expected}. ${fix}`;
