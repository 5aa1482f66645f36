import type { RunRecord, Store } from '@svc/store';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@svc/platform';

interface AwaitDeps {
  store: Pick<Store, 'runs'>;
  clock: Pick<Clock, 'nowMs'>;
}

const firstPauseMs = 10;
const maxPauseMs = 100;

/**
 * Polls a run until the condition holds, at most `forMs`; undefined when the run is gone. The request is durable in the
 * run's inbox regardless: waiting only lets the client's next read see its effect.
 */
export async function awaitRun(
  { store, clock }: AwaitDeps,
  id: string,
  isWanted: (run: RunRecord) => boolean,
  forMs: number,
): Promise<RunRecord | undefined> {
  const untilMs = clock.nowMs() + forMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const run = await store.runs.header(id);
    if (!run || isWanted(run) || clock.nowMs() >= untilMs) return run;
    await sleep(pauseMs);
  }
}
