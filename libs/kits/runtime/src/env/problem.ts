/** One thing an operator has to mend before the service runs as meant. */
export interface Problem {
  /** The variable. */
  name: string;
  /** What was given; masked when secret, absent when nothing was. */
  given?: string;
  /** The form or condition that was expected. */
  expected: string;
  /** What to do. */
  mend: string;
}

/** The environment does not let the service start; `problems` holds all of them, not only the first. */
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
export const formatProblem = ({ name, given, expected, mend }: Problem): string =>
  `  ${name}${given === undefined ? ' is not set' : ` is ${given}`}: expected ${expected}. ${mend}`;
