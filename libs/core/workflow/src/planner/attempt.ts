import { isTruthy } from '../expressions/expression';
import { getStepKind } from '../steps';
import { nextItem, canBeginMore } from '../steps/for-each';
import type { StepContext, Outcome } from '../steps/kind';
import { contextPath, isReserved, writePath } from './context-path';
import { hasRetriesLeft, lastAttempt, markRetried } from './dead-letters';
import type { Draft } from './draft';
import { attemptId } from './ids';
import { getStepOutput } from './output';
import { evaluate } from './scope';
import { pushUndo } from './undo';
import { stopChildren, withdraw } from './withdraw';

/** Begins a step, an item, a retry, or the next items of a fan-out; a step that needs a job slot is queued first. */
export function begin(draft: Draft, path: string): void {
  const run = draft.peek(path);
  if (!run || draft.run.ending) return;
  const at = draft.at(path);
  if (run.status === 'running' && getStepKind(at).composite) return beginItems(draft, at);
  if (run.status !== 'pending' || run.queued || run.settled) return;
  if (run.tries === 0 && at.index === undefined && !passesGuard(draft, at)) return;
  if (getStepKind(at).takesSlot) queueForSlot(draft, path);
  else launch(draft, path);
}

function beginItems(draft: Draft, at: StepContext): void {
  if (getStepKind({ ...at, index: 0 }).takesSlot) {
    if (canBeginMore(draft, at.path)) queueForSlot(draft, at.path);
    return;
  }
  while (canBeginMore(draft, at.path)) launch(draft, nextItem(draft, at.path));
}

function queueForSlot(draft: Draft, path: string): void {
  if (draft.peek(path)?.queued) return;
  draft.edit(path).queued = true;
  draft.run.ready.push(path);
}

const hasFreeSlot = ({ run, context }: Draft): boolean =>
  run.counts.jobs < (context.limits.maxParallelSteps || Infinity);

/** Whether steps wait only because this pass has dispatched as many jobs as it may. */
export const isUnfinished = (draft: Draft): boolean =>
  draft.dispatches >= draft.context.limits.maxDispatches && draft.run.ready.length > 0 && hasFreeSlot(draft);

/** Assigns free slots in queue order; a fan-out moves to the end of the queue after each item. */
export function fillSlots(draft: Draft): void {
  const { maxDispatches } = draft.context.limits;
  while (draft.dispatches < maxDispatches && hasFreeSlot(draft)) {
    const path = draft.run.ready.shift();
    if (path === undefined) return;
    delete draft.edit(path).queued;
    if (!getStepKind(draft.at(path)).composite) launch(draft, path);
    else if (canBeginMore(draft, path)) {
      const item = nextItem(draft, path);
      if (canBeginMore(draft, path)) queueForSlot(draft, path);
      launch(draft, item);
    }
  }
}

/** The guard of a step. See docs/reference/workflows.md#dependencies. */
function passesGuard(draft: Draft, at: StepContext): boolean {
  const { def, type } = at.node;
  if (def.condition === undefined || type === 'condition' || type === 'switch') return true;
  const holds = evaluate(at, def.condition);
  if (holds.kind === 'bad') {
    draft.note('step_condition_failed', { step_id: at.path, message: holds.message });
    apply(draft, at.path, {
      kind: 'ended',
      status: 'failed',
      error: { message: holds.message, code: 'condition_failed' },
    });
    return false;
  }
  if (isTruthy(holds.value)) return true;
  draft.note('step_condition_skipped', { step_id: at.path });
  skip(draft, at.path, 'condition_false');
  return false;
}

export function skip(draft: Draft, path: string, reason: string): void {
  const run = draft.enter(path, 'skip');
  run.skip_reason = reason;
  delete run.output;
  draft.note('step_skipped', { step_id: path, message: reason });
  draft.todo.push({ do: 'ended', path });
}

function launch(draft: Draft, path: string): void {
  const at = draft.at(path);
  const kind = getStepKind(at);
  const run = draft.edit(path);
  run.attempts += 1;
  run.tries += 1;
  run.started_at_ms ??= draft.context.nowMs;
  delete run.error;
  if (kind.retries) markRetried(draft, path);
  if (kind.takesSlot) {
    run.slot = true;
    draft.run.counts.jobs += 1;
  }
  apply(draft, path, kind.begin(at));
}

/** Applies the outcome of a step to its record. */
export function apply(draft: Draft, path: string, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'running':
      draft.enter(path, 'begin');
      return;
    case 'waiting':
      draft.enter(path, 'wait');
      return;
    case 'succeeded':
      return succeed(draft, path, outcome);
    case 'ended':
      return mayRetry(draft, path, outcome) ? retry(draft, path, outcome) : end(draft, path, outcome);
  }
}

type Ended = Extract<Outcome, { kind: 'ended' }>;

type Succeeded = Extract<Outcome, { kind: 'succeeded' }>;

function succeed(draft: Draft, path: string, { output, resultPtr, isOfOtherJob }: Succeeded): void {
  const at = draft.at(path);
  const kind = getStepKind(at);
  const { def } = at.node;
  // Items and rounds are validated and compensated individually.
  const isAggregate = kind.composite === true && at.node.children.length === 0 && at.node.type !== 'parallel';
  const wrong = isAggregate || isOfOtherJob ? undefined : draft.context.checkSchema(def, 'output', output);
  if (wrong !== undefined) {
    draft.note('step_output_invalid', { step_id: path, message: wrong });
    return end(draft, path, {
      kind: 'ended',
      status: 'failed',
      error: { message: wrong, code: 'step_output_invalid' },
    });
  }
  stopChildren(draft, path, 'not_needed');
  withdraw(draft, path, 'not_needed');
  const run = draft.enter(path, 'succeed');
  delete run.output;
  if (output !== undefined) run.output = output;
  if (resultPtr !== undefined) run.result_ptr = resultPtr;
  if (at.index !== undefined) {
    delete run.input;
    delete run.limits;
  }
  if (at.index === undefined && def.output_path !== undefined) {
    const place = contextPath(def.output_path);
    if (!isReserved(place)) draft.run.context = writePath(draft.run.context, place, getStepOutput(run) ?? null);
  }
  const isMocked = kind.takesSlot === true && run.job_id === undefined;
  if (!isAggregate && !isMocked && !isOfOtherJob)
    pushUndo(draft, path, run.job_id ?? attemptId(draft.run.id, path, run.attempts), output);
  const { job_id, result_ptr } = run;
  draft.note('step_completed', { step_id: path, ...(job_id !== undefined && { job_id }), ...(result_ptr !== undefined && { result_ptr }), status: 'succeeded' }); // prettier-ignore
  draft.todo.push({ do: 'ended', path });
}

function mayRetry(draft: Draft, path: string, { retryable }: Ended): boolean {
  const run = draft.peek(path);
  return retryable === true && run?.status === 'running' && hasRetriesLeft(draft, path);
}

/** Exponential backoff up to a cap; the jitter spreads steps that failed together. */
function retry(draft: Draft, path: string, { error }: Ended): void {
  const { nowMs, random } = draft.context;
  const { initial_backoff_sec = 1, max_backoff_sec = 30, multiplier = 2 } = draft.at(path).node.def.retry ?? {};
  withdraw(draft, path, 'retried');
  const run = draft.enter(path, 'retry');
  const backoffSec = Math.min(initial_backoff_sec * multiplier ** (run.tries - 1), max_backoff_sec);
  const atMs = nowMs + Math.round(backoffSec * 1_000 * (0.8 + 0.4 * random()));
  run.next_attempt_at_ms = atMs;
  run.error = error;
  draft.setTimer(path, 'retry', atMs);
  draft.note('step_retry_scheduled', {
    step_id: path,
    message: error.message,
    data: { attempt: run.attempts + 1, at_ms: atMs },
  });
}

const moves = { failed: 'fail', denied: 'deny', timed_out: 'timeOut', cancelled: 'cancel' } as const;

function end(draft: Draft, path: string, { status, error }: Ended): void {
  const before = draft.peek(path);
  // Only a step that began can be denied or time out.
  if (before?.status === 'pending' && (status === 'denied' || status === 'timed_out')) draft.enter(path, 'begin');
  stopChildren(draft, path, error.code ?? status);
  withdraw(draft, path, error.message);
  const run = draft.enter(path, moves[status]);
  run.error = error;
  delete run.output;
  if (status === 'failed' || status === 'timed_out') lastAttempt(draft, path);
  const data = { status, ...(error.code !== undefined && { code: error.code }), attempts: run.attempts };
  const jobId = run.job_id === undefined ? {} : { job_id: run.job_id };
  draft.note(status === 'cancelled' ? 'step_cancelled' : 'step_failed', { step_id: path, ...jobId, status, message: error.message, data }); // prettier-ignore
  draft.todo.push({ do: 'ended', path });
}
