import type { JobExplanation, RunStarterRule } from '@svc/contract';
import type { DecisionRecord, RunPosition } from '@svc/store';
import { getGraph, type RunState, type StepDefinition, type StepRun, type WorkflowDefinition } from '@svc/workflow';

/** The job of a step in its run's explanation. */
export interface StepJob extends JobExplanation {
  decision?: DecisionRecord;
}

/** Context of a run's explanation besides its own state. */
export interface RunExplainContext {
  nowMs: number;
  position: RunPosition;
  /** An engine runs; not checked, and true, while the run has no pending work. */
  hasEngine: boolean;
  /** Limit on concurrent job steps; 0 = unlimited. */
  maxParallelSteps: number;
  /** `approvals.run_starter`. */
  runStarter: RunStarterRule;
  /** Due times of timers, unix ms, by `<path>#<purpose>`; those of the run itself by `#<purpose>`. */
  timers: ReadonlyMap<string, number>;
}

export interface RunFacts extends RunExplainContext {
  definition: WorkflowDefinition;
  run: RunState;
  /** Explanations of the jobs of live steps, by job id; not necessarily of all. */
  jobs: ReadonlyMap<string, StepJob>;
}

/** One step, or one item of a fan-out, with its record. */
export interface StepPlace {
  path: string;
  /** The step, or the step that the item belongs to. */
  step: string;
  def: StepDefinition;
  record: StepRun;
}

/** Every step and item that has a record, in graph order, so that earlier entries may block later ones. */
export function listStepPlaces(definition: WorkflowDefinition, run: RunState): StepPlace[] {
  return getGraph(definition).order.flatMap((step) => {
    const def = definition.steps[step];
    const record = Object.hasOwn(run.steps, step) ? run.steps[step] : undefined;
    if (!def || !record) return [];
    const items = (record.children ?? []).map((item, i) => ({ path: `${step}[${i}]`, step, def, record: item }));
    return [{ path: step, step, def, record }, ...items];
  });
}

/** The step consists of items, rounds or child steps: they wait, the step itself does not. */
export const isComposite = ({ record }: Pick<StepPlace, 'record'>): boolean => record.progress !== undefined;

/** Dependencies of a step, without the steps whose errors it handles. */
export function listDependencies(definition: WorkflowDefinition, step: string): readonly string[] {
  const graph = getGraph(definition);
  const handled = graph.handles.get(step) ?? [];
  return graph.dependenciesOf(step).filter((dep) => !handled.includes(dep));
}
