import { isRunEnded, isStepEnded } from '@svc/lifecycle';
import { getStepKind } from '../steps';
import { applyGateAnswer, expireGate } from '../steps/approval';
import { awaits } from '../steps/signal';
import type { StepContext, Outcome } from '../steps/kind';
import { childRunEnded } from '../steps/subworkflow';
import { apply, begin } from './attempt';
import { childLetters, writeOrKeepLetters, unwantedFailure } from './dead-letters';
import type { Draft } from './draft';
import { decideEnd } from './ending';
import type { ChildRunEnded, JobEnded, RunEvent } from './events';
import { childKeyParts, itemPath, jobIdParts, runTimerId, timerParts, type AttemptParts } from './ids';
import { jobOutcome } from './job-result';
import { startRun } from './start';
import { isUndoTimer, pushUndo, undoEnded } from './undo';

/** Applies an event to the run, before its consequences are planned. For an ended run only actions are repeated. */
export function handle(draft: Draft, event: RunEvent): void {
  if (event.kind === 'tick') emitUnconfirmed(draft);
  if (isRunEnded(draft.run.status)) return;
  switch (event.kind) {
    case 'start':
      return startRun(draft, event.seed);
    case 'jobEnded':
      return jobEnded(draft, event);
    case 'gateResolved':
      return applyToGate(draft, event.jobId, (at) => applyGateAnswer(at, event));
    case 'gateExpired':
      return applyToGate(draft, event.jobId, expireGate);
    case 'timerFired':
      return timerFired(draft, event.timerId);
    case 'childStarted':
      return childStarted(draft, event.key, event.childRunId);
    case 'childRunEnded':
      return childEnded(draft, event);
    case 'signal':
      return signalled(draft, event);
    case 'cancel':
      return cancel(draft, event);
    case 'deleted':
      return deleted(draft);
    case 'continue':
    case 'tick':
      return;
  }
}

/** The step of an attempt, if it is the newest and live: older attempts have no effect. */
function findCurrent(draft: Draft, parts: AttemptParts | undefined): StepContext | undefined {
  if (!parts || parts.runId !== draft.run.id) return undefined;
  const run = draft.peek(parts.path);
  const isLive = run?.status === 'running' || run?.status === 'waiting';
  return isLive && run.attempts === parts.attempt ? draft.at(parts.path) : undefined;
}

function applyOutcome(draft: Draft, at: StepContext, outcome: Outcome | undefined): void {
  if (outcome) apply(draft, at.path, outcome);
}

function jobEnded(draft: Draft, event: JobEnded): void {
  const { ending, cancels } = draft.run;
  const { jobId } = event;
  if (ending?.undoing === jobId) {
    return undoEnded(draft, event.status === 'SUCCEEDED' ? undefined : (event.error ?? event.status));
  }
  const stopped = Object.hasOwn(cancels, jobId) ? cancels[jobId] : undefined;
  if (stopped !== undefined) {
    delete cancels[jobId];
    draft.confirm(`cancel:${jobId}`);
    // It succeeded before the cancellation arrived: it must be compensated like any other.
    if (event.status === 'SUCCEEDED') pushUndo(draft, stopped, jobId, event.output);
    else unwantedFailure(draft, stopped, jobId);
    return;
  }
  const at = findCurrent(draft, jobIdParts(jobId));
  if (!at || draft.peek(at.path)?.job_id !== jobId) return;
  draft.answered(at.path, jobId);
  applyOutcome(draft, at, jobOutcome(at, event));
}

function applyToGate(draft: Draft, jobId: string, answer: (at: StepContext) => Outcome | undefined): void {
  const at = findCurrent(draft, jobIdParts(jobId));
  if (at?.node.type !== 'approval') return;
  const outcome = answer(at);
  draft.confirm(jobId);
  applyOutcome(draft, at, outcome);
}

function timerFired(draft: Draft, timerId: string): void {
  draft.confirm(`set:${timerId}`);
  const parts = timerParts(timerId);
  if (!parts?.of) return runTimerFired(draft, timerId);
  const { of, purpose } = parts;
  const run = draft.peek(of.path);
  if (of.runId !== draft.run.id || run?.attempts !== of.attempt || !run.timers?.includes(purpose)) return;
  draft.edit(of.path).timers = run.timers.filter((other) => other !== purpose);
  if (purpose === 'retry') return begin(draft, of.path);
  const at = findCurrent(draft, of);
  if (at) applyOutcome(draft, at, getStepKind(at).timer?.(at, purpose));
}

function runTimerFired(draft: Draft, timerId: string): void {
  if (timerId === runTimerId(draft.run.id, 'cancels')) draft.run.cancels = {};
  const { undoing } = draft.run.ending ?? {};
  if (undoing === undefined || !isUndoTimer(draft, timerId)) return;
  draft.emit({ kind: 'cancelJob', id: `cancel:${undoing}`, jobId: undoing, reason: 'compensation timed out' });
  undoEnded(draft, 'timed out');
}

function childStarted(draft: Draft, key: string, childRunId: string): void {
  const at = findCurrent(draft, childKeyParts(key));
  if (!at) return;
  draft.confirm(key);
  draft.edit(at.path).child_run_id = childRunId;
}

function childEnded(draft: Draft, event: ChildRunEnded): void {
  const { cancels } = draft.run;
  const { letters = [] } = event;
  const stopped = Object.hasOwn(cancels, event.key) ? cancels[event.key] : undefined;
  if (stopped !== undefined) {
    delete cancels[event.key];
    draft.confirm(`cancel:${event.key}`);
    if (isStepEnded(draft.peek(stopped)?.status ?? 'pending')) writeOrKeepLetters(draft, letters);
    return;
  }
  const at = findCurrent(draft, childKeyParts(event.key));
  if (at?.node.type !== 'subworkflow') return;
  draft.answered(at.path, event.key);
  draft.edit(at.path).child_run_id = event.childRunId;
  applyOutcome(draft, at, childRunEnded(at, event));
  childLetters(draft, at.path, letters);
}

function signalled(draft: Draft, { name, payload, id, kept }: Extract<RunEvent, { kind: 'signal' }>): void {
  const { run, context } = draft;
  if (id !== undefined) {
    if (run.signal_ids.includes(id)) return;
    run.signal_ids = [...run.signal_ids, id].slice(-context.limits.keptSignals);
  }
  const waiting = [...context.blueprint.nodes.keys()].flatMap((step) => findWaiting(draft, step, name));
  for (const at of waiting) {
    draft.note('step_signal_received', { step_id: at.path });
    applyOutcome(draft, at, { kind: 'succeeded', output: payload ?? null });
  }
  if (waiting.length > 0 || kept === false) return;
  run.signals = [...run.signals, { name, ...(payload !== undefined && { payload }) }].slice(
    -context.limits.keptSignals,
  );
}

function findWaiting(draft: Draft, step: string, name: string): StepContext[] {
  const at = draft.at(step);
  if (at.node.type !== 'signal') return [];
  const items = (draft.peek(step)?.children ?? []).map((_, index) => draft.at(itemPath(step, index)));
  return [at, ...items].filter((one) => awaits(one, name));
}

function cancel(draft: Draft, { by, reason, compensate = false }: Extract<RunEvent, { kind: 'cancel' }>): void {
  const message = reason ?? (by === undefined ? 'cancelled' : `cancelled by ${by}`);
  const error = { message, code: 'cancelled' };
  decideEnd(
    draft,
    { status: 'cancelled', error, awaits_cancels: compensate, compensates: compensate },
    'run_cancelled',
  );
}

function deleted(draft: Draft): void {
  const error = { message: 'workflow deleted', code: 'workflow_deleted' };
  const awaits_cancels = draft.context.blueprint.compensates;
  decideEnd(draft, { status: 'failed', error, awaits_cancels, compensates: true }, 'workflow_deleted');
}

/** Ends a run whose deadline has passed. See docs/reference/workflows.md#retries. */
export function timeOutRun(draft: Draft): void {
  const error = { message: 'the run did not end in time', code: 'run_timeout' };
  const awaits_cancels = draft.context.blueprint.compensates;
  decideEnd(draft, { status: 'timed_out', error, awaits_cancels, compensates: true }, 'run_timed_out', 'timeOut');
}

/** Emits every unconfirmed action again. */
function emitUnconfirmed(draft: Draft): void {
  for (const entry of Object.values(draft.run.outbox)) {
    if (entry.of === 'run') draft.actions.push(entry.action);
    else {
      const at = draft.at(entry.path);
      const action = getStepKind(at).action?.(at);
      if (action) draft.actions.push(action);
    }
  }
}
