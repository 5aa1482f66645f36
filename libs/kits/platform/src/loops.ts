import type { Lease } from '@svc/store';

export interface Loop {
  name: string;
  everyMs: number;
  /** Held for a round by one replica at a time; absent = every replica runs it. */
  lease?: Lease;
  /** Also once at start. */
  atStart?: boolean;
  run(): Promise<unknown>;
  /** Called instead of `run` while another replica holds the lease. */
  standBy?(): void;
}

/**
 * Runs loops until told to stop. A round that fails is told and the next one comes all the same; rounds of one loop never
 * overlap. Returns what stops them, waiting for rounds under way.
 */
export function startLoops(
  loops: readonly Loop[],
  failed: (name: string, error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  const timers = new Set<NodeJS.Timeout>();
  const underWay = new Set<Promise<void>>();
  const round = async (loop: Loop) => {
    try {
      if (!loop.lease || (await loop.lease.hold())) await loop.run();
      else loop.standBy?.();
    } catch (error) {
      if (!stopped) failed(loop.name, error);
    }
  };
  const schedule = (loop: Loop, delayMs: number) => {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const work = round(loop).finally(() => {
        underWay.delete(work);
        schedule(loop, loop.everyMs);
      });
      underWay.add(work);
    }, delayMs);
    timers.add(timer);
  };
  for (const loop of loops) schedule(loop, loop.atStart ? 0 : loop.everyMs);
  return async () => {
    stopped = true;
    for (const timer of timers) clearTimeout(timer);
    await Promise.all(underWay);
  };
}
