import type { RunWait } from '@svc/contract';
import { iso } from './job-facts';
import type { RunFacts } from './run-facts';

/** What the run as a whole waits for, before any of its steps. See docs/reference/workflows.md#states. */
export function wholeWaits(facts: RunFacts): RunWait[] {
  return [...engineWait(facts), ...lockWait(facts), ...endingWaits(facts)];
}

/** Something is to be done for it, and no engine does it. */
function engineWait(facts: RunFacts): RunWait[] {
  const { standing, hasEngine, run } = facts;
  if (standing.entry === 'asleep' || standing.lock) return [];
  const reason = whyNoEngine(facts);
  if (!reason && run.status !== 'pending') return [];
  return [
    {
      kind: 'engine',
      what: reason ?? 'it stands in line for its first pass',
      owner: standing.isPaused && hasEngine ? { kind: 'queue', id: 'workflow-passes', value: 'paused' } : { kind: 'service', id: 'engine' },
      how: howToEngine(facts),
      since: iso(run.updated_at_ms),
      clears_at: null,
      under_way: reason === undefined,
      ...(standing.dueMs !== undefined && { next_try_at: iso(standing.dueMs) }),
    },
  ];
} // prettier-ignore

function whyNoEngine({ standing, hasEngine }: RunFacts): string | undefined {
  if (!hasEngine) return 'no engine runs';
  if (standing.isPaused) return 'the queue of runs to go on with is paused';
  if (standing.entry === 'failed') return 'its queue entry failed for good';
  if (standing.entry === 'lost') return 'no queue entry brings it to an engine';
  if (standing.entry === 'delayed') return 'what its last pass asked for could not be done yet';
  return undefined;
}

function howToEngine({ standing, hasEngine }: RunFacts): string {
  if (!hasEngine) return 'an engine must be started, or reach Redis again';
  if (standing.isPaused) return 'an operator must resume it';
  return 'by itself: engines look for such runs';
}

/** Somebody works on it now: that is no obstacle, but nobody else may. */
function lockWait({ standing, nowMs }: RunFacts): RunWait[] {
  const { lock } = standing;
  if (!lock) return [];
  return [
    {
      kind: 'lock',
      what: `${lock.owner} works on it now`,
      owner: { kind: 'lock', id: lock.owner },
      how: 'by itself, within moments; should its holder have died, when the lock ends',
      clears_at: iso(nowMs + lock.leftMs),
      under_way: true,
    },
  ];
}

/** Its end is decided: what was told to stop must answer, and what was done is undone. */
function endingWaits({ run, timers, jobs }: RunFacts): RunWait[] {
  const { ending } = run;
  if (!ending) return [];
  const until = timers.get('#cancels');
  const cancels = ending.awaits_cancels ? Object.entries(run.cancels) : [];
  const stops = cancels.map(([jobId, path]): RunWait => ({
    kind: 'cancel',
    step_id: path,
    what: `it was told to stop and has not answered; then the run ends ${ending.status}`,
    owner: { kind: 'step', id: path },
    how: 'by itself, when it answers or its time to do so is over',
    clears_at: until === undefined ? null : iso(until),
    under_way: false,
    ...(!jobId.startsWith('sub:') && { job_id: jobId }),
  }));
  const { undoing } = ending;
  if (undoing === undefined) return stops;
  const path = run.undo.at(-1)?.path;
  const job = jobs.get(undoing);
  const blocker = job?.blocked_by;
  const undo: RunWait = {
    kind: 'compensation',
    what: blocker?.what ?? `what ${path ?? 'a step'} did is being undone; then the run ends ${ending.status}`,
    owner: blocker?.owner ?? { kind: 'step', id: `${path ?? ''}.compensation` },
    how: blocker?.how ?? 'by itself, when the compensating job ends',
    clears_at: blocker?.clears_at ?? null,
    under_way: job !== undefined && !blocker,
    job_id: undoing,
    ...(path !== undefined && { step_id: path }),
    ...(job && { job_state: job.state }),
    ...(blocker && { job_blocked_by: blocker.kind }),
  };
  return [...stops, undo];
}
