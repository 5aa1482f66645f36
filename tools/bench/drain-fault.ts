import type { WorkerCounts } from './worker-process';

/** Observations of a batch of jobs after the system is idle. */
export interface DrainFacts {
  /** Job ids returned by the gateway. */
  ids: readonly string[];
  /** Increase of the number of jobs in each terminal state. */
  ended: Readonly<Record<string, number>>;
  /** How often each job entered a terminal state, in the order of `ids`. */
  ends: readonly number[];
  worked: WorkerCounts;
}

/** @returns the fault: a job lost, executed twice, or not SUCCEEDED; undefined when there is none */
export function findFault({ ids, ended, ends, worked }: DrainFacts): string | undefined {
  if (new Set(ids).size !== ids.length) return 'two submissions got the same job id';
  const wrong = Object.entries(ended).filter(([state, count]) => count !== (state === 'SUCCEEDED' ? ids.length : 0));
  if (wrong.length > 0) return `of ${ids.length} jobs ended otherwise: ${JSON.stringify(ended)}`;
  const odd = ids.filter((_, i) => ends[i] !== 1);
  if (odd.length > 0) return `${odd.length} jobs did not end exactly once, including ${odd[0]}`;
  if (worked.jobs === ids.length && worked.repeated.length === 0) return undefined;
  return `the worker executed ${worked.jobs} of ${ids.length} jobs, ${worked.repeated.length} of them more than once`;
}
