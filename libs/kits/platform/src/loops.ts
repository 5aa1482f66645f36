import type { Lease } from '@svc/store';

export interface Loop {
  name: string;
  everyMs: number;
  /** Limits each run to one replica; absent = every replica runs the loop. */
  lease?: Lease;
  /** Also run at start. */
  atStart?: boolean;
  run(): Promise<unknown>;
  /** Called instead of `run` while another replica holds the lease. */
  standBy?(): void;
}

/**
 * Runs loops until stopped. A failed run is reported and does not stop its loop; runs of one loop never overlap.
 *
 * @returns a function that stops the loops and waits for runs in progress
 */
export function startLoops(
  loops: readonly Loop[],
  onFailure: (name: string, error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const inProgress = new Set<Promise<void>>();
  const runOnce = async (loop: Loop) => {
    try {
      if (!loop.lease || (await loop.lease.hold())) await loop.run();
      else loop.standBy?.();
    } catch (error) {
      if (!stopped) onFailure(loop.name, error);
    }
  };
  const schedule = (loop: Loop, delayMs: number) => {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const work = runOnce(loop).finally(() => {
        inProgress.delete(work);
        schedule(loop, loop.everyMs);
      });
      inProgress.add(work);
    }, delayMs);
    timers.add(timer);
  };
  for (const loop of loops) schedule(loop, loop.atStart ? 0 : loop.everyMs);
  return async () => {
    stopped = true;
    for (const timer of timers) clearTimeout(timer);
    await Promise.all(inProgress);
  };
}
