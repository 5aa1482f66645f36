import type { WorkerCounts } from './worker-process';

/** What is known about a batch of jobs once nothing moves any more. */
export interface DrainFacts {
  /** As the gateway gave them out. */
  ids: readonly string[];
  /** How many more jobs than before stand in each terminal state. */
  ended: Readonly<Record<string, number>>;
  /** How often each job entered a terminal state, in the order of `ids`. */
  ends: readonly number[];
  worked: WorkerCounts;
}

/** @returns what is wrong: a job lost, done twice, or ended otherwise than SUCCEEDED; undefined when all is well */
export function faultOf({ ids, ended, ends, worked }: DrainFacts): string | undefined {
  if (new Set(ids).size !== ids.length) return 'two submissions were given the same job id';
  const wrong = Object.entries(ended).filter(([state, count]) => count !== (state === 'SUCCEEDED' ? ids.length : 0));
  if (wrong.length > 0) return `of ${ids.length} jobs ended otherwise: ${JSON.stringify(ended)}`;
  const odd = ids.filter((_, i) => ends[i] !== 1);
  if (odd.length > 0) return `${odd.length} jobs did not end exactly once, ${odd[0]} among them`;
  if (worked.jobs === ids.length && worked.repeated.length === 0) return undefined;
  return `the worker did ${worked.jobs} of ${ids.length} jobs, and ${worked.repeated.length} of them more than once`;
}
