import type { RunDeps } from './run-deps';

/** Delay before a run whose queue entry failed for good is retried. */
const failedRetryMs = 300_000;
/** Age after which an untouched run is checked. */
const untouchedMs = 5_000;
/** Age after which an untouched run that waits for external events rechecks its jobs and timers. */
const longUntouchedMs = 600_000;
const misdatedBatchSize = 500;
const timerBatchSize = 500;
/** Bounds one call, so that a large backlog of timers does not delay the other loops. */
const MAX_TIMER_BATCHES = 20;

/**
 * Requeues runs that have pending work and no queue entry, and makes runs untouched for long recheck their jobs. See docs/reference/workflows.md#how-a-run-proceeds.
 */
export async function repairRuns(deps: RunDeps, maxRuns: number): Promise<void> {
  const { store } = deps;
  // Before the runs: a run whose entry is removed gets a new one.
  await store.runIndex.dropMisdatedPasses(misdatedBatchSize);
  const nowMs = await store.runIndex.nowMs();
  const ids = await store.runIndex.toScan(nowMs - untouchedMs, maxRuns);
  const outcomes = await Promise.all(ids.map((id) => store.runs.requeue(id, failedRetryMs, longUntouchedMs)));
  for (const [i, id] of ids.entries()) if (outcomes[i] === 'requeued') deps.events.repaired(id);
  await store.runIndex.scanned(ids, nowMs);
}

/**
 * Fires timers that are due by Redis' clock and whose queue entry has not run: its process has a slow clock. Idempotent
 * with the queue entry: a timer fires once.
 */
export async function fireDueTimers(deps: RunDeps): Promise<void> {
  for (let batch = 0; batch < MAX_TIMER_BATCHES; batch++) {
    const due = await deps.store.runIndex.dueTimers(timerBatchSize);
    await Promise.all(due.map(({ runId, member }) => fireTimer(deps, runId, member)));
    if (due.length < timerBatchSize) return;
  }
}

/** Processes a timer's queue entry. An entry that runs early, by a fast clock, is left to {@link fireDueTimers}. */
export async function fireTimer(deps: RunDeps, runId: string, member: string): Promise<void> {
  const outcome = await deps.store.runs.fireTimer(runId, member);
  if (outcome.kind === 'fired') deps.events.timerFired(outcome.lateMs);
}

const expiredBatchSize = 200;

/** Removes expired runs from the lists. */
export async function removeExpiredRuns({ store: { runIndex } }: RunDeps): Promise<void> {
  while ((await runIndex.forget(await runIndex.nowMs(), expiredBatchSize)) === expiredBatchSize);
}
