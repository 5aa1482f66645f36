import type { RunWait } from '@svc/contract';
import { iso } from './job-facts';
import type { RunFacts } from './run-facts';

/** Waits of the run as a whole, before any of its steps. See docs/reference/workflows.md#states. */
export function runLevelWaits(facts: RunFacts): RunWait[] {
  return [...engineWait(facts), ...lockWait(facts), ...endingWaits(facts)];
}

/** The run has pending work that no engine processes. */
function engineWait(facts: RunFacts): RunWait[] {
  const { position, hasEngine, run } = facts;
  if (position.entry === 'asleep' || position.lock) return [];
  const reason = whyNoEngine(facts);
  if (!reason && run.status !== 'pending') return [];
  return [
    {
      kind: 'engine',
      what: reason ?? 'it is queued for its first pass',
      owner: position.isPaused && hasEngine ? { kind: 'queue', id: 'workflow-passes', value: 'paused' } : { kind: 'service', id: 'engine' },
      how: howToReachEngine(facts),
      since: iso(run.updated_at_ms),
      clears_at: null,
      under_way: reason === undefined,
      ...(position.dueMs !== undefined && { next_try_at: iso(position.dueMs) }),
    },
  ];
} // prettier-ignore

function whyNoEngine({ position, hasEngine }: RunFacts): string | undefined {
  if (!hasEngine) return 'no engine runs';
  if (position.isPaused) return 'the queue of runs is paused';
  if (position.entry === 'failed') return 'its queue entry failed for good';
  if (position.entry === 'lost') return 'it has no queue entry';
  if (position.entry === 'delayed') return 'an action of its last pass failed and will be retried';
  return undefined;
}

function howToReachEngine({ position, hasEngine }: RunFacts): string {
  if (!hasEngine) return 'an engine must be started, or reconnect to Redis';
  if (position.isPaused) return 'an operator must resume it';
  return 'automatically: engines requeue such runs';
}

/** Another process holds the run's lock: progress, not a blocker. */
function lockWait({ position, nowMs }: RunFacts): RunWait[] {
  const { lock } = position;
  if (!lock) return [];
  return [
    {
      kind: 'lock',
      what: `${lock.owner} is processing it`,
      owner: { kind: 'lock', id: lock.owner },
      how: 'automatically, within moments; if its owner crashed, when the lock expires',
      clears_at: iso(nowMs + lock.leftMs),
      under_way: true,
    },
  ];
}

/** The run is ending: cancelled jobs must stop, and finished steps are compensated. */
function endingWaits({ run, timers, jobs }: RunFacts): RunWait[] {
  const { ending } = run;
  if (!ending) return [];
  const until = timers.get('#cancels');
  const cancels = ending.awaits_cancels ? Object.entries(run.cancels) : [];
  const stops = cancels.map(([jobId, path]): RunWait => ({
    kind: 'cancel',
    step_id: path,
    what: `it was cancelled and has not stopped yet; then the run ends ${ending.status}`,
    owner: { kind: 'step', id: path },
    how: 'automatically, when it stops or the grace period ends',
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
    what: blocker?.what ?? `${path ?? 'a step'} is being compensated; then the run ends ${ending.status}`,
    owner: blocker?.owner ?? { kind: 'step', id: `${path ?? ''}.compensation` },
    how: blocker?.how ?? 'automatically, when the compensation job ends',
    clears_at: blocker?.clears_at ?? null,
    under_way: job !== undefined && !blocker,
    job_id: undoing,
    ...(path !== undefined && { step_id: path }),
    ...(job && { job_state: job.state }),
    ...(blocker && { job_blocked_by: blocker.kind }),
  };
  return [...stops, undo];
}
