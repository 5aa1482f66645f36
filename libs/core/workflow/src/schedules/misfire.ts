import type { Times } from './times';

/** What becomes of times that passed while nobody could start them. */
export type MisfireRule = 'skip' | 'run_once' | 'run_all';

export const misfireLimits = {
  /** A time that is found so late, and no other since, is not missed but a little late. */
  graceMs: 60_000,
  /** Most starts that are made up for, the newest. */
  madeUpFor: 100,
} as const;

export interface Passed {
  /** Times to start for, oldest first. */
  starts: number[];
  /** Some that passed are not among them. */
  leftOut: boolean;
  /** The next time to come; absent when there is none. */
  nextMs?: number;
}

/**
 * Judges the times from one that was due up to now.
 *
 * @param dueMs the first that is not started yet, at most `nowMs`
 */
export function judgePassed(times: Times, rule: MisfireRule, dueMs: number, nowMs: number): Passed {
  const nextMs = times.nextAfter(nowMs);
  const next = nextMs === undefined ? {} : { nextMs };
  const passed = newest(times, dueMs, nowMs, misfireLimits.madeUpFor);
  const last = passed.times.slice(-1);
  switch (rule) {
    case 'run_all':
      return { starts: passed.times, leftOut: passed.more, ...next };
    case 'run_once':
      return { starts: last, leftOut: passed.times.length > 1, ...next };
    case 'skip': {
      const starts = last.filter((time) => nowMs - time <= misfireLimits.graceMs);
      return { starts, leftOut: starts.length < passed.times.length, ...next };
    }
  }
}

/** Of a great many in a long time it looks at few: it halves the time until no more than wanted are left. */
function newest(times: Times, fromMs: number, nowMs: number, most: number): { times: number[]; more: boolean } {
  const after = (lowMs: number): number[] => {
    const found: number[] = [];
    for (let time = times.nextAfter(lowMs); time !== undefined && time <= nowMs && found.length <= most;) {
      found.push(time);
      time = times.nextAfter(time);
    }
    return found;
  };
  // A due time that its schedule no longer knows, as when the data of time zones changed, is a time all the same.
  const all = [...new Set([fromMs, ...after(fromMs)])];
  if (all.length <= most) return { times: all, more: false };
  let [low, high] = [fromMs, nowMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (after(middle).length > most) low = middle;
    else high = middle;
  }
  return { times: after(high), more: true };
}
