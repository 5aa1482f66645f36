import { isRunEnded, isStepEnded, runStates, stepStates, type RunMove, type StepMove } from '@svc/lifecycle';
import type { Action } from './actions';
import type { Blueprint, StepNode } from './blueprint';
import { pathParts, buildTimerId } from './ids';
import type { PlanLimits, SchemaCheck } from './limits';
import type { RunState, StepRun } from './run-state';
import type { TimelineEvent, TimelineType } from './timeline';

/** Pending work within a pass. */
export type Todo =
  | { do: 'begin'; path: string }
  | { do: 'consider'; step: string }
  | { do: 'ended'; path: string }
  | { do: 'settle'; step: string };

/** One step, or one item of it, within a pass. */
export interface StepContext {
  draft: Draft;
  node: StepNode;
  path: string;
  /** Number of the item or round. */
  index?: number;
}

export interface PlanContext {
  blueprint: Blueprint;
  nowMs: number;
  limits: PlanLimits;
  /** In [0, 1). */
  random: () => number;
  checkSchema: SchemaCheck;
  /** Whether the step at this path is a composite, which is not live itself. */
  isComposite: (at: StepContext) => boolean;
}

/**
 * The run as modified by one pass. Copy-on-write: a pass costs only its changes, and the original run stays unmodified.
 */
export class Draft {
  readonly run: RunState;
  readonly actions: Action[] = [];
  readonly events: TimelineEvent[] = [];
  /** Paths whose records this pass changed. */
  readonly changed = new Set<string>();
  readonly todo: Todo[] = [];
  /** Processed after all other work. */
  readonly toBegin: Todo[] = [];
  /** Jobs that this pass dispatches. */
  dispatches = 0;
  private readonly owned = new WeakSet<object>();

  constructor(
    source: RunState,
    readonly context: PlanContext,
  ) {
    this.run = {
      ...source,
      steps: { ...source.steps },
      ready: [...source.ready],
      counts: { ...source.counts },
      undo: [...source.undo],
      cancels: { ...source.cancels },
      signals: [...source.signals],
      signal_ids: [...source.signal_ids],
      outbox: { ...source.outbox },
      ...(source.ending && { ending: { ...source.ending } }),
      // An ended run never changes, though its actions may be emitted again.
      ...(!isRunEnded(source.status) && { updated_at_ms: context.nowMs }),
    };
  }

  at(path: string): StepContext {
    const { step, index } = pathParts(path);
    return { draft: this, node: this.context.blueprint.node(step), path, ...(index !== undefined && { index }) };
  }

  peek(path: string): StepRun | undefined {
    const { step, index } = pathParts(path);
    const run = Object.hasOwn(this.run.steps, step) ? this.run.steps[step] : undefined;
    return index === undefined ? run : run?.children?.[index];
  }

  /** @throws when there is no record: a defect */
  record(path: string): Readonly<StepRun> {
    const run = this.peek(path);
    if (!run) throw new Error(`the run has no record of ${path}`);
    return run;
  }

  /** A mutable copy of the record. */
  edit(path: string): StepRun {
    const run = this.record(path);
    return this.owned.has(run) ? run : this.put(path, { ...run });
  }

  put(path: string, run: StepRun): StepRun {
    const { step, index } = pathParts(path);
    if (index === undefined) this.run.steps[step] = run;
    else this.findChildren(step)[index] = run;
    this.owned.add(run);
    this.changed.add(path);
    return run;
  }

  private findChildren(step: string): StepRun[] {
    const parent = this.edit(step);
    if (parent.children && this.owned.has(parent.children)) return parent.children;
    parent.children = parent.children?.slice() ?? [];
    this.owned.add(parent.children);
    return parent.children;
  }

  /** The only way a step's state changes. */
  enter(path: string, move: StepMove): StepRun {
    const run = this.edit(path);
    const to = stepStates.next(run.status, move);
    if (to === undefined) throw new Error(`${path} is ${run.status}: it cannot ${move}`);
    const composite = this.context.isComposite(this.at(path));
    if (!composite) this.count(run, -1);
    run.status = to;
    if (move === 'retry') run.next_attempt_at_ms = this.context.nowMs;
    else delete run.next_attempt_at_ms;
    if (!composite) this.count(run, 1);
    if (isStepEnded(to)) run.completed_at_ms = this.context.nowMs;
    return run;
  }

  private count(run: StepRun, by: 1 | -1): void {
    if (run.status === 'running' || run.next_attempt_at_ms !== undefined) this.run.counts.busy += by;
    if (run.status === 'waiting') this.run.counts.waiting += by;
  }

  enterRun(move: RunMove): void {
    const to = runStates.next(this.run.status, move);
    if (to === undefined) throw new Error(`the run is ${this.run.status}: it cannot ${move}`);
    this.run.status = to;
    this.note('run_status', { status: to });
  }

  /** @param path step whose record the action can be rebuilt from; absent: the outbox keeps the action itself */
  emit(action: Action, path?: string): void {
    this.actions.push(action);
    if (action.kind === 'dispatchJob') this.dispatches += 1;
    this.run.outbox[action.id] = path === undefined ? { of: 'run', action } : { of: 'step', path };
    if (path !== undefined) this.edit(path).open = true;
  }

  /** Marks the action of a step as answered. */
  answered(path: string, actionId: string): void {
    delete this.edit(path).open;
    this.confirm(actionId);
  }

  /** Marks an action as done or no longer needed. */
  confirm(actionId: string): void {
    delete this.run.outbox[actionId];
  }

  setTimer(path: string, purpose: string, atMs: number): void {
    const run = this.edit(path);
    run.timers = [...(run.timers ?? []).filter((other) => other !== purpose), purpose];
    this.setTimerId(buildTimerId(this.run.id, path, run.attempts, purpose), atMs);
  }

  setTimerId(timerId: string, atMs: number): void {
    this.emit({ kind: 'setTimer', id: `set:${timerId}`, timerId, atMs });
  }

  clearTimerId(timerId: string): void {
    this.confirm(`set:${timerId}`);
    this.emit({ kind: 'clearTimer', id: `clear:${timerId}`, timerId });
  }

  clearTimers(path: string): void {
    const run = this.edit(path);
    for (const purpose of run.timers ?? []) {
      this.clearTimerId(buildTimerId(this.run.id, path, run.attempts, purpose));
    }
    delete run.timers;
  }

  note(type: TimelineType, rest: Omit<TimelineEvent, 'time_ms' | 'type' | 'run_id' | 'workflow_id'> = {}): void {
    const { id, workflow_id } = this.run;
    this.events.push({ time_ms: this.context.nowMs, type, run_id: id, workflow_id, ...rest });
  }
}
