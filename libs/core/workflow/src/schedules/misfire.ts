import type { Times } from './times';

/** Handling of missed times. */
export type MisfireRule = 'skip' | 'run_once' | 'run_all';

export const misfireLimits = {
  /** Tolerance: a single time found this late still counts as on time. */
  graceMs: 60_000,
  /** Maximum of missed starts that are made up, newest first. */
  madeUpFor: 100,
} as const;

export interface MisfireResult {
  /** Times to start for, oldest first. */
  starts: number[];
  /** Some missed times are skipped. */
  leftOut: boolean;
  /** The next time; absent when there is none. */
  nextMs?: number;
}

/**
 * Applies the misfire rule to the times from `dueMs` up to now.
 *
 * @param dueMs the first time not started yet, at most `nowMs`
 */
export function applyMisfireRule(times: Times, rule: MisfireRule, dueMs: number, nowMs: number): MisfireResult {
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

/** Finds the newest times without enumerating a long period: halves it until at most `max` are left. */
function newest(times: Times, fromMs: number, nowMs: number, max: number): { times: number[]; more: boolean } {
  const after = (lowMs: number): number[] => {
    const found: number[] = [];
    for (let time = times.nextAfter(lowMs); time !== undefined && time <= nowMs && found.length <= max;) {
      found.push(time);
      time = times.nextAfter(time);
    }
    return found;
  };
  // Counts even if the schedule no longer contains it, as when time zone data changed.
  const all = [...new Set([fromMs, ...after(fromMs)])];
  if (all.length <= max) return { times: all, more: false };
  let [low, high] = [fromMs, nowMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (after(middle).length > max) low = middle;
    else high = middle;
  }
  return { times: after(high), more: true };
}
