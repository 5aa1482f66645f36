import { isStepEnded } from '@svc/lifecycle';
import { getStepKind } from '../steps';
import type { Draft } from './draft';

/*
 * The job of an attempt with retries left writes no dead letter when it fails. If no retry follows after all, the run
 * requests the letter. In a child run that its parent would retry, the letter waits for the end of that run.
 */

/** Whether the step's rule allows a retry if the current attempt fails. */
export function hasRetriesLeft(draft: Draft, path: string): boolean {
  const at = draft.at(path);
  if (!getStepKind(at).retries) return false;
  return draft.record(path).tries <= (at.node.def.retry?.max_retries ?? draft.context.limits.defaultMaxRetries);
}

/** Records whether the attempt that begins would be retried. */
export function markRetried(draft: Draft, path: string): void {
  const run = draft.edit(path);
  delete run.letters;
  if (hasRetriesLeft(draft, path) || draft.run.retried) run.retried = true;
  else delete run.retried;
}

/** The attempt was the last one of its step. */
export function lastAttempt(draft: Draft, path: string): void {
  const { retried, job_id, letters = [] } = draft.peek(path) ?? {};
  if (retried) writeOrKeepLetters(draft, job_id === undefined ? letters : [job_id, ...letters]);
}

/** A cancelled job failed: its letter is written unless a newer attempt replaced it. */
export function unwantedFailure(draft: Draft, path: string, jobId: string): void {
  const step = draft.peek(path);
  if (step && isStepEnded(step.status) && step.job_id === jobId) writeOrKeepLetters(draft, [jobId]);
}

/** A child run ended and left its letters to its parent: they are due unless another child run replaces it. */
export function childLetters(draft: Draft, path: string, letters: readonly string[]): void {
  if (letters.length === 0) return;
  if (draft.peek(path)?.next_attempt_at_ms === undefined) writeOrKeepLetters(draft, letters);
  else draft.edit(path).letters = [...letters];
}

/** Bounds the record of a child run; beyond it, letters are written at once. */
const maxLetters = 1_000;

/** Jobs whose dead letter is written now, or with the end of a run that is retried itself. */
export function writeOrKeepLetters(draft: Draft, jobIds: readonly string[]): void {
  const [first] = jobIds;
  if (first === undefined) return;
  const kept = [...new Set([...(draft.run.letters ?? []), ...jobIds])];
  if (draft.run.retried && kept.length <= maxLetters) draft.run.letters = kept;
  else draft.emit({ kind: 'writeDeadLetters', id: `letters:${first}`, jobIds });
}

/** The run has ended. One that its parent may retry keeps its letters for the parent to decide. */
export function settleLetters(draft: Draft): void {
  const { letters, status, id } = draft.run;
  if (!letters || (status !== 'succeeded' && status !== 'denied')) return;
  delete draft.run.letters;
  draft.emit({ kind: 'writeDeadLetters', id: `letters:${id}`, jobIds: letters });
}
