import { isStepEnded } from '@svc/lifecycle';
import { getStepKind } from '../steps';
import { lastAttempt } from './dead-letters';
import type { Draft } from './draft';
import { attemptId, childKey, itemPath, pathParts } from './ids';

/** Releases a step's timers, slot and requests; the caller changes its state. */
export function withdraw(draft: Draft, path: string, reason: string): void {
  const run = draft.edit(path);
  draft.clearTimers(path);
  if (run.slot) {
    delete run.slot;
    draft.run.counts.jobs -= 1;
  }
  if (run.queued) {
    delete run.queued;
    draft.run.ready = draft.run.ready.filter((other) => other !== path);
  }
  if (run.open) requestCancel(draft, path, reason);
}

/** Cancels the job, gate or child run. Its answer is still processed: it may have succeeded before the cancellation. */
function requestCancel(draft: Draft, path: string, reason: string): void {
  const run = draft.edit(path);
  const { node } = draft.at(path);
  if (node.type === 'subworkflow') {
    const key = childKey(draft.run.id, path, run.attempts);
    draft.answered(path, key);
    draft.run.cancels[key] = path;
    const { child_run_id: id } = run;
    draft.emit({ kind: 'cancelChild', id: `cancel:${key}`, key, ...(id !== undefined && { childRunId: id }), reason });
    return;
  }
  const jobId = attemptId(draft.run.id, path, run.attempts);
  draft.answered(path, jobId);
  if (node.type !== 'approval') draft.run.cancels[jobId] = path;
  draft.emit({ kind: 'cancelJob', id: `cancel:${jobId}`, jobId, reason });
}

/** How the remaining steps end: cancelled, or timed out with their run. */
export type EndOfRest = 'cancel' | 'timeOut';

/** Ends a step that has not ended, with its children and items. */
export function stop(draft: Draft, path: string, reason: string, how: EndOfRest = 'cancel'): void {
  const run = draft.peek(path);
  if (!run || isStepEnded(run.status)) return;
  stopChildren(draft, path, reason, how);
  withdraw(draft, path, reason);
  // It was waiting for a retry that will not follow.
  if (run.next_attempt_at_ms !== undefined) lastAttempt(draft, path);
  const move = run.status === 'pending' ? 'cancel' : how;
  const after = draft.enter(path, move);
  after.skip_reason = reason;
  after.settled = 'neutral';
  const isItem = pathParts(path).index !== undefined;
  draft.note(isItem ? 'step_foreach_orphan_cancelled' : 'step_cancelled', { step_id: path, message: reason });
}

/** Ends the remaining children and items of a composite. */
export function stopChildren(draft: Draft, path: string, reason: string, how: EndOfRest = 'cancel'): void {
  const at = draft.at(path);
  if (!getStepKind(at).composite) return;
  const items = draft.peek(path)?.children ?? [];
  items.forEach((item, index) => {
    if (!isStepEnded(item.status)) stop(draft, itemPath(path, index), reason, how);
  });
  for (const inner of at.node.owned) stop(draft, inner, reason, how);
}
