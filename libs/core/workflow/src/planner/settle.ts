import { isStepEnded } from '@svc/lifecycle';
import { getStepKind } from '../steps';
import { apply, skip } from './attempt';
import type { StepNode } from './blueprint';
import type { Draft } from './draft';
import { failRun } from './ending';
import { resetStep } from './reset-step';
import type { Settlement, StepRun } from './run-state';

/** A step or an item has ended: notifies its dependents and owner. */
export function ended(draft: Draft, path: string): void {
  const { node, index } = draft.at(path);
  const run = draft.peek(path);
  if (!run || !isStepEnded(run.status)) return;
  if (index === undefined) return settle(draft, node.id);
  if (draft.run.ending) return;
  notifyOwner(draft, node.id, path, run.status === 'succeeded' ? 'ok' : 'bad');
}

/** Settles a step unless its error handler is still pending. */
export function settle(draft: Draft, id: string): void {
  const node = draft.context.blueprint.node(id);
  const run = draft.peek(id);
  if (!run || run.settled || !isStepEnded(run.status)) return;
  const settlement = toSettlement(draft, node, run);
  if (settlement === undefined) return;
  draft.edit(id).settled = settlement;
  for (const handled of node.handles) draft.todo.push({ do: 'settle', step: handled });
  if (node.handler !== undefined) releaseHandler(draft, node.handler);
  if (node.runBy !== undefined) notifyOwner(draft, node.runBy, id, settlement);
  for (const dependent of node.dependents) {
    const left = (draft.peek(dependent)?.open_deps ?? 0) - 1;
    if (left < 0) continue;
    draft.edit(dependent).open_deps = left;
    if (left === 0) draft.todo.push({ do: 'consider', step: dependent });
  }
  if (settlement === 'bad' && node.owner === undefined && node.handles.length === 0) failRun(draft, id);
}

function notifyOwner(draft: Draft, owner: string, path: string, settlement: Settlement): void {
  const run = draft.peek(path);
  if (!run || draft.peek(owner)?.status !== 'running') return;
  const at = draft.at(owner);
  const outcome = getStepKind(at).childEnded?.(at, { path, run, settlement });
  if (outcome) apply(draft, owner, outcome);
}

function toSettlement(draft: Draft, node: StepNode, { status, skip_reason = '' }: StepRun): Settlement | undefined {
  switch (status) {
    case 'succeeded':
      return 'ok';
    case 'skipped':
      return skip_reason === 'condition_false' ? 'ok' : isFailure(skip_reason) ? 'bad' : 'neutral';
    case 'cancelled':
      return skip_reason === 'switch_branch_not_taken' ? 'neutral' : 'bad';
    default:
      return settlementByHandler(draft, node);
  }
}

const isFailure = (reason: string): boolean => reason === 'unreachable' || reason.startsWith('dependency_failed:');

/**
 * Settlement of a failed step by its error handler; undefined while the handler is pending.
 * See docs/reference/workflows.md#retries.
 */
function settlementByHandler(draft: Draft, { id, handler }: StepNode): Settlement | undefined {
  if (handler === undefined || draft.run.ending) return 'bad';
  if (!draft.peek(handler)) resetStep(draft, handler);
  const run = draft.peek(handler);
  if (run?.settled) return run.settled === 'ok' && run.handles ? 'ok' : 'bad';
  if (!run || run.handles) return undefined;
  if (isStepEnded(run.status)) return 'bad';
  const failed = draft.peek(id);
  const { message = 'failed', code } = failed?.error ?? {};
  const attempts = failed?.attempts ?? 0;
  draft.edit(handler).handles = { message, step_id: id, ...(code !== undefined && { code }), attempts };
  draft.note('step_error_redirect', { step_id: id, message, data: { handler } });
  draft.todo.push({ do: 'consider', step: handler });
  return undefined;
}

/** Skips a handler once no step that it handles can fail any more. */
function releaseHandler(draft: Draft, id: string): void {
  const run = draft.peek(id);
  if (run?.status !== 'pending' || run.handles || run.settled) return;
  const { handles } = draft.context.blueprint.node(id);
  if (handles.every((other) => draft.peek(other)?.settled)) skip(draft, id, 'not_activated');
}

/** Begins a step when its dependencies allow it, or skips it when they never will. */
export function consider(draft: Draft, id: string): void {
  const run = draft.peek(id);
  const node = draft.context.blueprint.node(id);
  if (run?.status !== 'pending' || run.settled || run.queued || run.next_attempt_at_ms !== undefined) return;
  if ((run.open_deps ?? 0) > 0 || (node.handles.length > 0 && !run.handles)) return;
  const decision = mayBegin(draft, node);
  if (decision === 'begin') draft.todo.push({ do: 'begin', path: id });
  else skip(draft, id, decision);
}

/** @returns `begin`, or the skip reason */
export function mayBegin(draft: Draft, { deps, def }: StepNode): string {
  const settlements = deps.map((dep) => draft.peek(dep)?.settled);
  const good = settlements.includes('ok');
  const bad = settlements.indexOf('bad');
  if (bad >= 0 && !(def.join === 'any' && good)) return `dependency_failed:${findRootFailure(draft, deps[bad] ?? '')}`;
  return good || deps.length === 0 ? 'begin' : 'no_dependency_succeeded';
}

/** The step whose failure is the root cause. */
function findRootFailure(draft: Draft, id: string): string {
  const reason = draft.peek(id)?.skip_reason ?? '';
  return reason.startsWith('dependency_failed:') ? reason.slice('dependency_failed:'.length) : id;
}
