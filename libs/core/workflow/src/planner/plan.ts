import { isRunEnded } from '@svc/lifecycle';
import type { WorkflowDefinition } from '../definition/workflow';
import { kindOf } from '../steps';
import type { Action } from './actions';
import { begin, fillSlots } from './attempt';
import { blueprintOf } from './blueprint';
import { Draft, type Todo } from './draft';
import { conclude, decideEnd } from './ending';
import type { RunEvent } from './events';
import { handle, outOfTime } from './handle';
import { defaultPlanLimits, type PlanLimits, type SchemaCheck } from './limits';
import type { RunState } from './run-state';
import { consider, ended, settle } from './settle';
import type { TimelineEvent } from './timeline';

export interface PlanRequest {
  /** The same object for the same revision: what is prepared of it is kept by it. */
  definition: WorkflowDefinition;
  run: RunState;
  event: RunEvent;
  nowMs: number;
  limits?: Partial<PlanLimits>;
  /** In [0, 1): spreads retries. */
  random: () => number;
  /** Absent: no schema is checked. */
  checkSchema?: SchemaCheck;
  /** Ids of actions that were carried out since the last pass. */
  acted?: readonly string[];
}

export interface Plan {
  run: RunState;
  /** To be carried out in this order once the run is saved. */
  actions: Action[];
  /** To be appended to the timeline together with the saving. */
  events: TimelineEvent[];
  /** Step ids and items (`weigh[2]`) whose records differ from the run that was handed in. */
  changed: string[];
}

/**
 * One pass over a run: what an event changes, what is to be done about it, and what is to be told. Pure: the run handed in
 * stays as it is, so a plan that could not be saved is dropped and made again.
 * See docs/reference/workflows.md#how-a-run-proceeds.
 */
export function plan(request: PlanRequest): Plan {
  const { definition, run, event, nowMs, random, checkSchema = () => undefined } = request;
  const limits = { ...defaultPlanLimits, ...request.limits };
  const blueprint = blueprintOf(definition, limits.expressions);
  const isComposite = (at: Parameters<typeof kindOf>[0]) => kindOf(at).composite === true;
  const draft = new Draft(run, { blueprint, nowMs, limits, random, checkSchema, isComposite });
  for (const id of request.acted ?? []) draft.confirm(id);
  handle(draft, event);
  if (!isRunEnded(draft.run.status)) work(draft);
  return { run: draft.run, actions: draft.actions, events: draft.events, changed: [...draft.changed] };
}

/** Works out consequences until there are none: steps done within the engine let others begin in the same pass. */
function work(draft: Draft): void {
  if (draft.run.deadline_ms !== undefined && draft.around.nowMs >= draft.run.deadline_ms) outOfTime(draft);
  let movesLeft = draft.around.limits.maxMovesPerPass;
  do {
    for (let next = take(draft); next; next = take(draft)) {
      step(draft, next);
      if (--movesLeft === 0) tooMuch(draft);
    }
  } while ((draft.run.status !== 'pending' || draft.run.ending) && conclude(draft));
}

/**
 * What ended is told before anything begins, so that nothing begins in a pass that ends the run. Slots are given when
 * nothing else is left to do, so that what ended has made room.
 */
function take(draft: Draft): Todo | undefined {
  const { todo, toBegin } = draft;
  for (let next = todo.shift(); next; next = todo.shift()) {
    if (next.do !== 'begin') return next;
    toBegin.push(next);
  }
  if (toBegin.length === 0 && !draft.run.ending) fillSlots(draft);
  return todo.shift() ?? toBegin.shift();
}

function step(draft: Draft, todo: Todo): void {
  switch (todo.do) {
    case 'begin':
      return begin(draft, todo.path);
    case 'consider':
      return consider(draft, todo.step);
    case 'ended':
      return ended(draft, todo.path);
    case 'settle':
      return settle(draft, todo.step);
  }
}

/** Inline steps that keep each other going would hold this process up. */
function tooMuch(draft: Draft): void {
  const error = { message: 'one pass begins and ends too many steps: loops must do some work', code: 'pass_too_long' };
  decideEnd(draft, { status: 'failed', error, awaits_cancels: true, compensates: true }, 'run_failed');
}
