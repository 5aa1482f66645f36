import type { StepDefinition, WorkflowDefinition } from '../definition/workflow';
import type { Action } from './actions';
import type { JobEnd, RunEvent } from './events';
import type { PlanLimits, SchemaCheck } from './limits';
import { newRun } from './new-run';
import { plan } from './plan';
import type { RunState, StepRun } from './run-state';
import type { TimelineEvent } from './timeline';

type ActionOf<K extends Action['kind']> = Extract<Action, { kind: K }>;

export const buildDefinition = (
  steps: Record<string, StepDefinition>,
  rest: Partial<WorkflowDefinition> = {},
): WorkflowDefinition => ({ id: 'harbour', org_id: 'acme', name: 'Harbour', timeout_sec: 0, steps, ...rest });

export interface DriverOptions {
  definition?: Partial<WorkflowDefinition>;
  input?: Record<string, unknown>;
  limits?: Partial<PlanLimits>;
  run?: Partial<RunState>;
  checkSchema?: SchemaCheck;
}

/** Test engine: saves the run as JSON after each pass, records actions, and answers on request. */
export class Driver {
  run: RunState;
  nowMs = 1_000_000;
  lastChanged: string[] = [];
  isUnfinished = false;
  readonly actions: Action[] = [];
  readonly events: TimelineEvent[] = [];
  readonly definition: WorkflowDefinition;

  constructor(
    steps: Record<string, StepDefinition>,
    private readonly options: DriverOptions = {},
  ) {
    this.definition = buildDefinition(steps, options.definition);
    const run = newRun({ id: 'r1', workflow_id: 'harbour', org_id: 'acme', input: options.input ?? {} }, this.nowMs);
    this.run = { ...run, ...options.run };
  }

  /** @returns the actions of this pass */
  send(event: RunEvent, acted: readonly string[] = []): Action[] {
    const before = JSON.stringify(this.run);
    const { limits, checkSchema } = this.options;
    const made = plan({
      definition: this.definition,
      run: this.run,
      event,
      nowMs: this.nowMs,
      random: () => 0.5,
      acted,
      ...(limits && { limits }),
      ...(checkSchema && { checkSchema }),
    });
    if (JSON.stringify(this.run) !== before) throw new Error('the run that was handed in has changed');
    this.run = JSON.parse(JSON.stringify(made.run)) as RunState;
    this.lastChanged = made.changed;
    this.isUnfinished = made.isUnfinished;
    this.actions.push(...made.actions);
    this.events.push(...made.events);
    return made.actions;
  }

  start = (): Action[] => this.send({ kind: 'start' });

  /** Ends the newest attempt at a path. */
  job(
    path: string,
    status: JobEnd = 'SUCCEEDED',
    rest: { output?: unknown; error?: string; code?: string } = {},
  ): Action[] {
    return this.send({ kind: 'jobEnded', jobId: this.jobId(path), status, ...rest });
  }

  gate = (path: string, approved: boolean, by = 'ann'): Action[] =>
    this.send({ kind: 'gateResolved', jobId: this.jobId(path), approved, by });

  /** Advances to the newest timer of this purpose and fires it. */
  fire(purpose: string): Action[] {
    const timer = this.asked('setTimer').findLast(({ timerId }) => timerId.endsWith(`#${purpose}`));
    if (!timer) throw new Error(`no timer ${purpose} was set`);
    this.nowMs = Math.max(this.nowMs, timer.atMs);
    return this.send({ kind: 'timerFired', timerId: timer.timerId });
  }

  child = (status: 'succeeded' | 'failed', output?: unknown): Action[] =>
    this.send({
      kind: 'childRunEnded',
      key: this.asked('startChild').at(-1)?.key ?? '',
      childRunId: 'c1',
      status,
      output,
    });

  jobId = (path: string): string => `r1:${path}@${this.at(path)?.attempts ?? 0}`;

  at(path: string): StepRun | undefined {
    const [step = '', index] = path.split(/[[\]]/);
    return index === undefined ? this.run.steps[step] : this.run.steps[step]?.children?.[Number(index)];
  }

  asked = <K extends Action['kind']>(kind: K): ActionOf<K>[] =>
    this.actions.filter((action): action is ActionOf<K> => action.kind === kind);

  /** Paths dispatched so far. */
  get dispatched(): string[] {
    return this.asked('dispatchJob').map(({ path }) => path);
  }

  get statuses(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.run.steps).map(([id, { status }]) => [id, status]));
  }

  types = (stepId: string): string[] => this.events.filter(({ step_id }) => step_id === stepId).map(({ type }) => type);
}
