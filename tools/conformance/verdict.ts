/** Outcome of one check. */
export type Verdict =
  | { outcome: 'passed' }
  | { outcome: 'failed'; expected: string; seen: string }
  | { outcome: 'not_applicable'; reason: string };

export type CheckResult = { id: string; title: string; durationMs: number } & Verdict;

/** A check found another behavior than the protocol requires. */
export class Mismatch extends Error {
  constructor(
    readonly expected: string,
    readonly seen: string,
  ) {
    super(`expected ${expected}; seen: ${seen}`);
  }
}

/** The worker does not have the ability that a check is about. */
export class NotApplicable extends Error {}

/** @throws Mismatch unless the condition holds */
export function require(condition: boolean, expected: string, seen: string): asserts condition {
  if (!condition) throw new Mismatch(expected, seen);
}
