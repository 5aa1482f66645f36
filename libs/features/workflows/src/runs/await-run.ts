import type { RunRecord, Store } from '@svc/store';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@svc/platform';

interface AwaitDeps {
  store: Pick<Store, 'runs'>;
  clock: Pick<Clock, 'nowMs'>;
}

const firstPauseMs = 10;
const longestPauseMs = 100;

/**
 * The run as soon as it is as wanted, or as it is after so many ms; undefined when it is no more. What was asked of the run
 * stands in its inbox and happens in any case: this is so that a client who reads next sees it.
 */
export async function awaitRun(
  { store, clock }: AwaitDeps,
  id: string,
  isWanted: (run: RunRecord) => boolean,
  forMs: number,
): Promise<RunRecord | undefined> {
  const untilMs = clock.nowMs() + forMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const run = await store.runs.header(id);
    if (!run || isWanted(run) || clock.nowMs() >= untilMs) return run;
    await sleep(pauseMs);
  }
}
