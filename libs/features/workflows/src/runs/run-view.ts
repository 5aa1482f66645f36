import type { RunView, StepRunView, TimelineView, TimerView } from '@svc/contract';
import type { JsonObject, LoadedRun, RunTimer } from '@svc/store';
import { toUsd } from '@svc/policy';
import { getStepOutput, timerParts, type RunState, type StepRun, type TimelineEvent } from '@svc/workflow';
import { toRunState } from './run-codec';

/** Metadata keys that are internal to the service. */
const internalMetadata: readonly string[] = ['submitter'];

/** Detail of the steps in a view: `outline` omits the items of fan-outs and the inputs and outputs of steps. */
export type StepDetail = 'full' | 'outline';

const iso = (ms: number): string => new Date(ms).toISOString();

export interface RunViewOptions {
  /** Only in views of a single run; omitted when empty. */
  timers?: readonly RunTimer[];
  steps?: StepDetail;
  nowMs?: number;
  /** Cost of its jobs, micros. */
  cost?: number;
}

/** API view of a run. See docs/reference/workflows.md#runs. */
export function toRunView(
  run: RunState,
  { timers = [], steps = 'full', nowMs = 0, cost = 0 }: RunViewOptions = {},
): RunView {
  const metadata = Object.fromEntries(
    Object.entries(run.metadata ?? {}).filter(([key]) => !internalMetadata.includes(key)),
  );
  const current = findCurrentStep(run);
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
    steps: Object.fromEntries(Object.entries(run.steps).map(([id, step]) => [id, toStepView(id, step, steps)])),
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
    ...(timers.length > 0 && { timers: timers.map((timer) => toTimerView(run, timer, nowMs)) }),
  };
}

/** API view of a stored run; `updated_at` is the one that lists are sorted by. */
export const toLoadedRunView = (loaded: LoadedRun, shown?: RunViewOptions): RunView => ({
  ...toRunView(toRunState(loaded), { ...shown, cost: loaded.run.cost }),
  updated_at: iso(loaded.run.updated_at / 1_000),
});

function toStepView(id: string, step: StepRun, detail: StepDetail, item?: unknown): StepRunView {
  const { input, error, skip_reason } = step;
  const output = getStepOutput(step);
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
      ...toParts(id, step),
    }),
  };
}

/** Items of a fan-out and rounds of a loop, by the step ids of their jobs. */
function toParts(id: string, { children, resolved_items: items }: StepRun): Partial<StepRunView> {
  const parts = (children ?? []).map((child, i): [string, StepRunView] => {
    const path = `${id}[${i}]`;
    return [path, toStepView(path, child, 'full', items?.[i])];
  });
  return {
    ...(parts.length > 0 && { children: Object.fromEntries(parts) }),
    ...(items && { resolved_items: items }),
  };
}

function findCurrentStep({ steps }: RunState): string | undefined {
  const live = Object.entries(steps).filter(([, { status }]) => status === 'running' || status === 'waiting');
  return live.map(([id]) => id).sort()[0];
}

function toTimerView(run: RunState, { member, dueMs }: RunTimer, nowMs: number): TimerView {
  const step = timerParts(member)?.of?.path;
  return {
    workflow_id: run.workflow_id,
    run_id: run.id,
    fires_at: iso(dueMs),
    remaining_ms: Math.max(0, dueMs - nowMs),
    ...(step !== undefined && { step_id: step }),
  };
}

/** API view of a history entry. Only passes write them. */
export function toTimelineView(event: JsonObject): TimelineView {
  const { time_ms, ...rest } = event as unknown as TimelineEvent;
  return { time: iso(time_ms), ...rest };
}
