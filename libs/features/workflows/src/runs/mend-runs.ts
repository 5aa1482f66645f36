import type { RunDeps } from './run-deps';

/** How long an entry that failed for good rests before the run is tried again. */
const failedRestMs = 300_000;
/** A run that nobody touched for so long is looked at. */
const untouchedMs = 5_000;
/** One that waits for the outside and was not touched for so long looks at its own jobs and timers. */
const longUntouchedMs = 600_000;
const timersAtOnce = 500;
/** When very many come due at once, this is quicker than their entries; other loops have their turn in between. */
const mostTimerRounds = 20;

/**
 * Brings runs that have something to do and no queue entry to an engine, and has those that were not touched for long look
 * at their jobs. See docs/reference/workflows.md#how-a-run-proceeds.
 */
export async function mendRuns(deps: RunDeps, mostRuns: number): Promise<void> {
  const { store } = deps;
  const nowMs = await store.runIndex.nowMs();
  const ids = await store.runIndex.toScan(nowMs - untouchedMs, mostRuns);
  const woken = await Promise.all(ids.map((id) => store.runs.rewake(id, failedRestMs, longUntouchedMs)));
  for (const [i, id] of ids.entries()) if (woken[i] === 'woken') deps.events.mended(id);
  await store.runIndex.scanned(ids, nowMs);
}

/**
 * Fires timers that are due by Redis' clock and whose queue entry did not: those of a process whose clock is behind. The
 * entry and this may both come: a timer fires once.
 */
export async function fireDueTimers(deps: RunDeps): Promise<void> {
  for (let round = 0; round < mostTimerRounds; round++) {
    const due = await deps.store.runIndex.dueTimers(timersAtOnce);
    await Promise.all(due.map(({ runId, member }) => fireTimer(deps, runId, member)));
    if (due.length < timersAtOnce) return;
  }
}

/** A timer's queue entry is there. One that came early, by a clock that is ahead, is left to {@link fireDueTimers}. */
export async function fireTimer(deps: RunDeps, runId: string, member: string): Promise<void> {
  const outcome = await deps.store.runs.fireTimer(runId, member);
  if (outcome.kind === 'fired') deps.events.timerFired(outcome.lateMs);
}

const forgottenAtOnce = 200;

/** Takes runs whose time is over out of the lists. */
export async function forgetRuns({ store: { runIndex } }: RunDeps): Promise<void> {
  while ((await runIndex.forget(await runIndex.nowMs(), forgottenAtOnce)) === forgottenAtOnce);
}
