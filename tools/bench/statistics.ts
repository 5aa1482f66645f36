/** The value that `share` (0 to 1) of the samples do not exceed. @throws RangeError without samples */
export function percentile(samples: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(samples).sort();
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
  if (value === undefined) throw new RangeError('a percentile of no samples');
  return value;
}

/** The median; of an even number, the lower of the two middle values. */
export const median = (samples: ArrayLike<number>): number => percentile(samples, 0.5);

/** Rate per second, from now until the returned function is called with the count. */
export function stopwatch(): (count: number) => number {
  const startedMs = performance.now();
  return (count) => (count / (performance.now() - startedMs)) * 1_000;
}
