import { isRunEnded } from '@svc/lifecycle';
import type { WorkflowDefinition } from '../definition/workflow';
import { getStepKind } from '../steps';
import type { Action } from './actions';
import { begin, fillSlots, isUnfinished } from './attempt';
import { buildBlueprint } from './blueprint';
import { Draft, type Todo } from './draft';
import { conclude, decideEnd } from './ending';
import type { RunEvent } from './events';
import { handle, timeOutRun } from './handle';
import { defaultPlanLimits, type PlanLimits, type SchemaCheck } from './limits';
import type { RunState } from './run-state';
import { consider, ended, settle } from './settle';
import type { TimelineEvent } from './timeline';

export interface PlanRequest {
  /** Must be the same object for the same revision: prepared data is cached by it. */
  definition: WorkflowDefinition;
  run: RunState;
  event: RunEvent;
  nowMs: number;
  limits?: Partial<PlanLimits>;
  /** In [0, 1): spreads retries. */
  random: () => number;
  /** Absent: no schema is checked. */
  checkSchema?: SchemaCheck;
  /** Ids of actions that were executed since the last pass. */
  acted?: readonly string[];
}

export interface Plan {
  run: RunState;
  /** To be executed in this order after the run is saved. */
  actions: Action[];
  /** To be appended to the timeline in the same write. */
  events: TimelineEvent[];
  /** Step ids and items (`weigh[2]`) whose records differ from the given run. */
  changed: string[];
  /** More can begin after the event `continue`: the plan dispatches as many jobs as it may. */
  isUnfinished: boolean;
}

/**
 * One pass over a run: applies an event and returns the new state, actions and timeline events. Pure: the given run is not
 * modified, so a plan that could not be saved is discarded and recomputed.
 * See docs/reference/workflows.md#how-a-run-proceeds.
 */
export const plan = ({ event, ...request }: PlanRequest): Plan => planEvents({ ...request, events: [event] });

export interface EventsPlanRequest extends Omit<PlanRequest, 'event'> {
  events: readonly RunEvent[];
}

/** The same for several events in their order, as if each was planned in a pass of its own; copies the run once. */
export function planEvents(request: EventsPlanRequest): Plan {
  const { definition, run, events, nowMs, random, checkSchema = () => undefined } = request;
  const limits = { ...defaultPlanLimits, ...request.limits };
  const blueprint = buildBlueprint(definition, limits.expressions);
  const isComposite = (at: Parameters<typeof getStepKind>[0]) => getStepKind(at).composite === true;
  const draft = new Draft(run, { blueprint, nowMs, limits, random, checkSchema, isComposite });
  for (const id of request.acted ?? []) draft.confirm(id);
  for (const event of events) {
    handle(draft, event);
    if (!isRunEnded(draft.run.status)) work(draft);
  }
  return {
    run: draft.run,
    actions: draft.actions,
    events: draft.events,
    changed: [...draft.changed],
    isUnfinished: !isRunEnded(draft.run.status) && !draft.run.ending && isUnfinished(draft),
  };
}

/** Processes pending work until there is none: steps that complete inline let others begin in the same pass. */
function work(draft: Draft): void {
  if (draft.run.deadline_ms !== undefined && draft.context.nowMs >= draft.run.deadline_ms) timeOutRun(draft);
  let movesLeft = draft.context.limits.maxMovesPerPass;
  do {
    for (let next = take(draft); next; next = take(draft)) {
      step(draft, next);
      if (--movesLeft === 0) failPassTooLong(draft);
    }
  } while ((draft.run.status !== 'pending' || draft.run.ending) && conclude(draft));
}

/**
 * Takes the next item of work. Ends are processed before anything begins, so that nothing begins in a pass that ends the
 * run. Slots are filled last, after ended steps have released theirs.
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

/** Fails a run whose inline steps trigger each other endlessly and would block this process. */
function failPassTooLong(draft: Draft): void {
  const error = { message: 'one pass begins and ends too many steps: loops must do some work', code: 'pass_too_long' };
  decideEnd(draft, { status: 'failed', error, awaits_cancels: true, compensates: true }, 'run_failed');
}
