import type { JobExplanation, RunStarterRule } from '@svc/contract';
import type { DecisionRecord, RunStanding } from '@svc/store';
import { graphOf, type RunState, type StepDefinition, type StepRun, type WorkflowDefinition } from '@svc/workflow';

/** What of a step's job its run's explanation shows. */
export interface StepJob extends JobExplanation {
  decision?: DecisionRecord;
}

/** What decides whether a run goes on beside its own state. */
export interface RunAround {
  nowMs: number;
  standing: RunStanding;
  /** An engine runs; not asked, and true, while nothing is to be done for the run. */
  hasEngine: boolean;
  /** Job steps that may be out at once; 0 = any number. */
  maxParallelSteps: number;
  /** `approvals.run_starter`. */
  runStarter: RunStarterRule;
  /** When timers that are set are due, unix ms, by `<path>#<purpose>`; those of the run itself by `#<purpose>`. */
  timers: ReadonlyMap<string, number>;
}

export interface RunFacts extends RunAround {
  definition: WorkflowDefinition;
  run: RunState;
  /** Explanations of the jobs of live steps, by job id; not necessarily of all. */
  jobs: ReadonlyMap<string, StepJob>;
}

/** One step, or one item of a fan-out, with its record. */
export interface Place {
  path: string;
  /** The step it is, or is an item of. */
  step: string;
  def: StepDefinition;
  record: StepRun;
}

/** Every step and item that has a record, in the order of the definition's graph: what comes first there may hold the rest. */
export function placesOf(definition: WorkflowDefinition, run: RunState): Place[] {
  return graphOf(definition).order.flatMap((step) => {
    const def = definition.steps[step];
    const record = Object.hasOwn(run.steps, step) ? run.steps[step] : undefined;
    if (!def || !record) return [];
    const items = (record.children ?? []).map((item, i) => ({ path: `${step}[${i}]`, step, def, record: item }));
    return [{ path: step, step, def, record }, ...items];
  });
}

/** It is done for items, rounds or steps of its own: these wait, it does not. */
export const isMadeOfParts = ({ record }: Pick<Place, 'record'>): boolean => record.progress !== undefined;

/** What it waits for before it may begin; the step whose error it handles is no such thing. */
export function dependenciesOf(definition: WorkflowDefinition, step: string): readonly string[] {
  const graph = graphOf(definition);
  const handled = graph.handles.get(step) ?? [];
  return graph.dependenciesOf(step).filter((dep) => !handled.includes(dep));
}
