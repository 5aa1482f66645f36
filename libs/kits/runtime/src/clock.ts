import { setTimeout as delay } from 'node:timers/promises';

/** The only way code below an app reads the time, so that tests can hold it still. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  nowMs(): number;
  /** Wall clock, microseconds since 1970; two calls in one process never give the same number or go back. */
  nowUs(): number;
  /** Waits; an aborted signal ends the wait early and without an error, so that loops check the signal themselves. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** How far the anchored microsecond clock may stray from the wall clock (suspend, NTP step) before it is set again. */
const strayUs = 5_000;

/** The machine's clock. */
export function systemClock(): Clock {
  let anchorUs = Date.now() * 1_000;
  let anchorAt = process.hrtime.bigint();
  let lastUs = 0;
  const elapsedUs = () => Number((process.hrtime.bigint() - anchorAt) / 1_000n);
  return {
    nowMs: () => Date.now(),
    nowUs() {
      const wallUs = Date.now() * 1_000;
      if (Math.abs(anchorUs + elapsedUs() - wallUs) > strayUs) {
        anchorUs = wallUs;
        anchorAt = process.hrtime.bigint();
      }
      lastUs = Math.max(lastUs + 1, anchorUs + elapsedUs());
      return lastUs;
    },
    async sleep(ms, signal) {
      await delay(ms, undefined, signal && { signal }).catch((error: unknown) => {
        if (!signal?.aborted) throw error;
      });
    },
  };
}
