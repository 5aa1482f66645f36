import type { RunView, StepRunView, TimelineView, TimerView } from '@svc/contract';
import type { JsonObject, LoadedRun, RunTimer } from '@svc/store';
import { toUsd } from '@svc/policy';
import { outputOf, timerParts, type RunState, type StepRun, type TimelineEvent } from '@svc/workflow';
import { runStateOf } from './run-codec';

/** What the service keeps for itself among the metadata of a run. */
const ownMetadata: readonly string[] = ['submitter'];

/** How much of the steps a view shows: `outline` leaves out the items of fan-outs, and what steps were given and gave. */
export type StepDetail = 'full' | 'outline';

const iso = (ms: number): string => new Date(ms).toISOString();

export interface RunShown {
  /** Shown of one run only, and left out when there are none. */
  timers?: readonly RunTimer[];
  steps?: StepDetail;
  nowMs?: number;
  /** What its jobs cost, micros. */
  cost?: number;
}

/** A run for readers. See docs/reference/workflows.md#runs. */
export function runViewOf(run: RunState, { timers = [], steps = 'full', nowMs = 0, cost = 0 }: RunShown = {}): RunView {
  const metadata = Object.fromEntries(Object.entries(run.metadata ?? {}).filter(([key]) => !ownMetadata.includes(key)));
  const current = currentStep(run);
  return {
    id: run.id,
    workflow_id: run.workflow_id,
    org_id: run.org_id,
    team_id: run.team_id ?? '',
    input: run.input,
    context: run.context,
    status: run.status,
    started_at: run.started_at_ms === undefined ? null : iso(run.started_at_ms),
    completed_at: run.completed_at_ms === undefined ? null : iso(run.completed_at_ms),
    output: run.output ?? null,
    error: run.error ?? null,
    steps: Object.fromEntries(Object.entries(run.steps).map(([id, step]) => [id, stepViewOf(id, step, steps)])),
    total_cost: toUsd(cost),
    triggered_by: run.triggered_by ?? '',
    created_at: iso(run.created_at_ms),
    updated_at: iso(run.updated_at_ms),
    ...(run.workflow_revision !== undefined && { workflow_revision: run.workflow_revision }),
    ...(run.labels && { labels: run.labels }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(run.idempotency_key !== undefined && { idempotency_key: run.idempotency_key }),
    ...(run.rerun_of !== undefined && { rerun_of: run.rerun_of }),
    ...(run.rerun_step !== undefined && { rerun_step: run.rerun_step }),
    ...(run.dry_run && { dry_run: true }),
    ...(current !== undefined && { current_step: current }),
    ...(timers.length > 0 && { timers: timers.map((timer) => timerViewOf(run, timer, nowMs)) }),
  };
}

/** The same of what the store holds: its `updated_at` is the one that lists are sorted by. */
export const viewOfLoaded = (loaded: LoadedRun, shown?: RunShown): RunView => ({
  ...runViewOf(runStateOf(loaded), { ...shown, cost: loaded.run.cost }),
  updated_at: iso(loaded.run.updated_at / 1_000),
});

function stepViewOf(id: string, step: StepRun, detail: StepDetail, item?: unknown): StepRunView {
  const { input, error, skip_reason } = step;
  const output = outputOf(step);
  return {
    step_id: id,
    status: step.status,
    attempts: step.attempts,
    ...(step.started_at_ms !== undefined && { started_at: iso(step.started_at_ms) }),
    ...(step.completed_at_ms !== undefined && { completed_at: iso(step.completed_at_ms) }),
    ...(step.next_attempt_at_ms !== undefined && { next_attempt_at: iso(step.next_attempt_at_ms) }),
    ...(step.result_ptr !== undefined && { result_ptr: step.result_ptr }),
    ...(error && { error }),
    ...(step.job_id !== undefined && { job_id: step.job_id }),
    ...(step.child_run_id !== undefined && { child_run_id: step.child_run_id }),
    ...(skip_reason !== undefined && { skip_reason }),
    ...(detail === 'full' && {
      ...(input !== undefined && { input }),
      ...(output !== undefined && { output }),
      ...(item !== undefined && { item }),
      ...partsOf(id, step),
    }),
  };
}

/** Items of a fan-out and rounds of a loop, by the step ids that their jobs have. */
function partsOf(id: string, { children, resolved_items: items }: StepRun): Partial<StepRunView> {
  const parts = (children ?? []).map((child, i): [string, StepRunView] => {
    const path = `${id}[${i}]`;
    return [path, stepViewOf(path, child, 'full', items?.[i])];
  });
  return {
    ...(parts.length > 0 && { children: Object.fromEntries(parts) }),
    ...(items && { resolved_items: items }),
  };
}

function currentStep({ steps }: RunState): string | undefined {
  const live = Object.entries(steps).filter(([, { status }]) => status === 'running' || status === 'waiting');
  return live.map(([id]) => id).sort()[0];
}

function timerViewOf(run: RunState, { member, dueMs }: RunTimer, nowMs: number): TimerView {
  const step = timerParts(member)?.of?.path;
  return {
    workflow_id: run.workflow_id,
    run_id: run.id,
    fires_at: iso(dueMs),
    remaining_ms: Math.max(0, dueMs - nowMs),
    ...(step !== undefined && { step_id: step }),
  };
}

/** One line of the history. Only passes write them. */
export function timelineViewOf(event: JsonObject): TimelineView {
  const { time_ms, ...rest } = event as unknown as TimelineEvent;
  return { time: iso(time_ms), ...rest };
}
