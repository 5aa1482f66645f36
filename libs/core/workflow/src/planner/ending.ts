import { isStepEnded, type RunEnd } from '@svc/lifecycle';
import { settleLetters } from './dead-letters';
import type { Draft } from './draft';
import { runTimerId } from './ids';
import { getStepOutput } from './output';
import type { RunError } from './run-error';
import type { RunEnding } from './run-state';
import { endScope } from './scope';
import { undoNext } from './undo';
import { stop, type EndOfRest } from './withdraw';

/** Most severe first. See docs/reference/workflows.md#states. */
const bySeverity = ['failed', 'denied', 'timed_out'] as const;

/** A step and its error handlers failed for good: the run will fail. */
export function failRun(draft: Draft, id: string): void {
  const failures = { ...draft.run.failures };
  const { blueprint } = draft.context;
  for (let step: string | undefined = id; step !== undefined; step = blueprint.node(step).handler) {
    const { status, error, skip_reason } = draft.peek(step) ?? {};
    const message = `step ${step}: ${error?.message ?? status}`;
    const code = error?.code === undefined ? {} : { code: error.code };
    if (status === 'failed' || status === 'denied' || status === 'timed_out') failures[status] ??= { message, ...code };
    if (skip_reason === 'unreachable')
      failures.failed ??= { message: `step ${step} can never begin`, code: 'unreachable' };
    if (status === 'cancelled') failures.failed ??= { message, code: 'step_cancelled' };
  }
  if (Object.keys(failures).length === 0) return;
  draft.run.failures = failures;
  if (blueprint.definition.on_failure !== 'finish_siblings') endByFailure(draft);
}

function endByFailure(draft: Draft): void {
  const { failures = {} } = draft.run;
  const status = bySeverity.find((one) => failures[one]) ?? 'failed';
  const error = failures[status];
  decideEnd(draft, { status, ...(error && { error }), awaits_cancels: true, compensates: true }, 'run_failed');
}

/** Decides the final status. Nothing new begins; live steps are stopped, and the run ends after that and compensation. */
export function decideEnd(draft: Draft, ending: RunEnding, reason: string, how: EndOfRest = 'cancel'): void {
  const { run, context } = draft;
  if (run.ending) return;
  run.ending = ending;
  for (const id of context.blueprint.order) {
    const step = draft.peek(id);
    const isLive = step && (step.status !== 'pending' || step.queued || step.next_attempt_at_ms !== undefined);
    if (isLive && context.blueprint.node(id).owner === undefined) stop(draft, id, reason, how);
  }
  run.ready = [];
  if (ending.awaits_cancels && Object.keys(run.cancels).length > 0) {
    ending.has_timer = true;
    draft.setTimerId(runTimerId(run.id, 'cancels'), context.nowMs + context.limits.cancelGraceMs);
  }
}

/** Updates whether the run waits, continues or has ended. @returns whether there is new work */
export function conclude(draft: Draft): boolean {
  const { run } = draft;
  if (run.completed_at_ms !== undefined) return false;
  const { busy, waiting } = run.counts;
  const isIdle = busy + waiting + run.ready.length === 0;
  if (!run.ending && isIdle) {
    if (releaseStuckStep(draft)) return true;
    if (run.failures) endByFailure(draft);
    else succeed(draft);
  }
  if (run.ending) continueEnding(draft, run.ending);
  else if (waiting > 0 && busy + run.ready.length === 0) {
    if (run.status === 'running') draft.enterRun('wait');
  } else if (run.status === 'waiting') draft.enterRun('resume');
  return false;
}

/**
 * Nothing is live, but steps have not begun: unneeded error handlers, or steps and handlers that wait for each other. Skips
 * them one by one, so that no run waits forever.
 */
function releaseStuckStep(draft: Draft): boolean {
  const { blueprint } = draft.context;
  const stuck = blueprint.order.filter((id) => {
    const run = draft.peek(id);
    return run?.status === 'pending' && blueprint.node(id).owner === undefined;
  });
  const unneeded = stuck.find((id) => blueprint.node(id).handles.length > 0 && !draft.peek(id)?.handles);
  const handler = stuck.find((id) => draft.peek(id)?.handles);
  const id = unneeded ?? handler ?? stuck[0];
  if (id === undefined) return false;
  draft.enter(id, 'skip').skip_reason = id === unneeded ? 'not_activated' : 'unreachable';
  draft.note('step_skipped', { step_id: id, message: draft.peek(id)?.skip_reason ?? '' });
  draft.todo.push({ do: 'ended', path: id });
  return true;
}

function succeed(draft: Draft): void {
  const { definition } = draft.context.blueprint;
  const output = definition.output === undefined ? collectSinkOutput(draft) : rendered(draft, definition.output);
  if (output.kind === 'ok') {
    if (output.value !== undefined) draft.run.output = output.value;
    draft.run.ending = { status: 'succeeded', awaits_cancels: false, compensates: false };
    return;
  }
  const error = { message: `output: ${output.message}`, code: 'output_failed' };
  decideEnd(draft, { status: 'failed', error, awaits_cancels: true, compensates: true }, 'run_failed');
}

const rendered = (draft: Draft, value: unknown) => draft.context.blueprint.render(value, endScope(draft));

/** Outputs of the last steps, by step id; for a single step just its output. See docs/reference/workflows.md#expressions. */
function collectSinkOutput(draft: Draft): { kind: 'ok'; value: unknown } {
  const { sinks } = draft.context.blueprint;
  const outputs = sinks.flatMap((id): [string, unknown][] => {
    const run = draft.peek(id);
    const output = run?.status === 'succeeded' ? getStepOutput(run) : undefined;
    return output === undefined ? [] : [[id, output]];
  });
  if (sinks.length === 1) return { kind: 'ok', value: outputs[0]?.[1] };
  return { kind: 'ok', value: outputs.length === 0 ? undefined : Object.fromEntries(outputs) };
}

function continueEnding(draft: Draft, ending: RunEnding): void {
  const { run } = draft;
  if (ending.awaits_cancels && Object.keys(run.cancels).length > 0) return resume(draft);
  if (ending.compensates && undoNext(draft)) return resume(draft);
  finish(draft, ending.status, ending.error);
}

function resume(draft: Draft): void {
  if (draft.run.status === 'waiting') draft.enterRun('resume');
}

const moves = {
  succeeded: 'succeed',
  failed: 'fail',
  denied: 'deny',
  timed_out: 'timeOut',
  cancelled: 'cancel',
} as const;

function finish(draft: Draft, status: RunEnd, error: RunError | undefined): void {
  const { run, context } = draft;
  for (const id of context.blueprint.order) closePending(draft, id);
  if (error) run.error = error;
  draft.enterRun(moves[status]);
  run.completed_at_ms = context.nowMs;
  if (run.ending?.has_timer) draft.clearTimerId(runTimerId(run.id, 'cancels'));
  if (run.deadline_ms !== undefined) draft.clearTimerId(runTimerId(run.id, 'deadline'));
  run.cancels = {};
  run.signals = [];
  run.ready = [];
  delete run.ending;
  settleLetters(draft);
  const parentKey = run.parent?.key;
  draft.emit({
    kind: 'finished',
    id: `finished:${run.id}`,
    status,
    ...(error && { error }),
    ...(parentKey !== undefined && { parentKey }),
  });
}

/** Closes a step that never began: skipped if it depended on a failed step, else cancelled. */
function closePending(draft: Draft, id: string): void {
  const run = draft.peek(id);
  if (run?.status !== 'pending') return;
  const { deps } = draft.context.blueprint.node(id);
  const root = deps.map((dep) => findFailure(draft, dep)).find((found) => found !== undefined);
  draft.enter(id, root === undefined ? 'cancel' : 'skip').skip_reason =
    root === undefined ? 'run_ended' : `dependency_failed:${root}`;
}

function findFailure(draft: Draft, id: string): string | undefined {
  const { status, skip_reason = '', settled } = draft.peek(id) ?? {};
  if (status === 'skipped' && skip_reason.startsWith('dependency_failed:')) return skip_reason.split(':')[1];
  const isBad = status === 'failed' || status === 'denied' || (status === 'timed_out' && settled === 'bad');
  return status !== undefined && isStepEnded(status) && isBad && settled !== 'ok' ? id : undefined;
}
