import type { JobEvent } from '@svc/lifecycle';
import type { JobRecord, MoveExtras } from '@svc/store';
import { badEnd, type Ending } from './endings';
import { type IntentDeps, publishIntent } from './publish-intent';

/** A job's move and its announcement. Settings and events are those of the process that moves it. */
export interface MoveDeps extends IntentDeps {
  events: {
    completed(topic: string, status: string): void;
    publishFailed(jobId: string, error: unknown): void;
  };
  settings: { deadLetterTtlSec: number };
}

/** The end of a job whose deadline has passed, wherever it stood. */
export const deadlinePassed: Ending = {
  event: 'timeOut',
  code: 'timeout',
  message: 'timeout: deadline expired',
  result: 'TIMEOUT',
  cancel: 'timeout',
};

/** Ends a job badly and tells the bus. Returns whether it was this call that ended it. */
export async function endBadly(
  deps: MoveDeps,
  job: JobRecord,
  ending: Ending,
  more: MoveExtras = {},
): Promise<boolean> {
  const extras = badEnd(job, ending, deps.clock.nowUs(), deps.settings.deadLetterTtlSec);
  return moveAndTell(deps, job, ending.event, { ...extras, ...more, set: { ...extras.set, ...more.set } });
}

/** The same for those who then have nothing to look at again. */
export async function finish(
  deps: MoveDeps,
  job: JobRecord,
  ending: Ending,
  more: MoveExtras = {},
): Promise<undefined> {
  await endBadly(deps, job, ending, more);
  return undefined;
}

/** A move and what it has to say; refused moves say nothing. Returns whether the job moved. */
export async function moveAndTell(
  deps: MoveDeps,
  job: JobRecord,
  event: JobEvent,
  extras: MoveExtras,
): Promise<boolean> {
  const outcome = await deps.store.jobs.move('*', job.id, event, extras);
  if (outcome.kind !== 'moved') return false;
  if (['fail', 'refuse', 'timeOut', 'deny', 'quarantine', 'cancel'].includes(event))
    deps.events.completed(job.topic, outcome.state);
  if (extras.intent) {
    const told = { ...job, ...extras.set, state: outcome.state, intent: extras.intent };
    // The record keeps the intent: what fails here the replayer repeats.
    await publishIntent(deps, told).catch((error: unknown) => deps.events.publishFailed(job.id, error));
  }
  return true;
}
