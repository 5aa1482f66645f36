import type { JobEvent } from '@svc/lifecycle';
import type { MoveExtras } from '@svc/store';
import { type EndedJob, failureWrites, type JobFailure } from './job-failure';
import { type Intended, type IntentDeps, publishIntent } from './publish-intent';

/** Moves jobs and publishes the result. Settings and events are those of the calling process. */
export interface MoveDeps extends IntentDeps {
  events: {
    completed(topic: string, status: string): void;
    publishFailed(jobId: string, error: unknown): void;
  };
  settings: { deadLetterTtlSec: number };
}

/** The failure of a job whose deadline has passed, in whatever state it was. */
export const deadlineFailure: JobFailure = {
  event: 'timeOut',
  code: 'timeout',
  message: 'timeout: deadline expired',
  result: 'TIMEOUT',
  cancel: 'timeout',
};

/** Fails a job and publishes that. Returns whether this call ended it. */
export async function failJob(
  deps: MoveDeps,
  job: EndedJob & Intended,
  ending: JobFailure,
  more: MoveExtras = {},
): Promise<boolean> {
  const extras = failureWrites(job, ending, deps.clock.nowUs(), deps.settings.deadLetterTtlSec);
  return transitionAndPublish(deps, job, ending.event, { ...extras, ...more, set: { ...extras.set, ...more.set } });
}

/** The same without a return value. */
export async function failAndStop(
  deps: MoveDeps,
  job: EndedJob & Intended,
  ending: JobFailure,
  more: MoveExtras = {},
): Promise<undefined> {
  await failJob(deps, job, ending, more);
  return undefined;
}

/** Applies a transition and publishes its messages; a rejected one publishes nothing. Returns whether the job moved. */
export async function transitionAndPublish(
  deps: MoveDeps,
  job: Intended,
  event: JobEvent,
  extras: MoveExtras,
): Promise<boolean> {
  const outcome = await deps.store.jobs.move('*', job.id, event, extras);
  if (outcome.kind !== 'moved') return false;
  if (['fail', 'refuse', 'timeOut', 'deny', 'quarantine', 'cancel'].includes(event))
    deps.events.completed(job.topic, outcome.state);
  if (extras.intent) {
    const moved = { ...job, ...extras.set, state: outcome.state, intent: extras.intent };
    // The record keeps the intent: the replayer repeats a failed publish.
    await publishIntent(deps, moved).catch((error: unknown) => deps.events.publishFailed(job.id, error));
  }
  return true;
}
