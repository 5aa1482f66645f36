import type { RunStatus, StepStatus } from '@svc/lifecycle';
import Joi from 'joi';
import { anyObject, count, jobId, stringMap, text } from '../fields';
import { shape } from '../shape';
import {
  runError,
  runId,
  runStatuses,
  stepId,
  stepStatuses,
  time,
  workflowId,
  type RunErrorView,
} from './workflow-fields';

export interface StepRunView {
  step_id: string;
  status: StepStatus;
  started_at?: string;
  completed_at?: string;
  next_attempt_at?: string;
  attempts?: number;
  input?: unknown;
  output?: unknown;
  result_ptr?: string;
  error?: RunErrorView;
  job_id?: string;
  child_run_id?: string;
  item?: unknown;
  children?: Record<string, unknown>;
  resolved_items?: unknown[];
  skip_reason?: string;
  audit_hash?: string;
}
const stepRunView = shape<StepRunView>({
  required: { step_id: stepId, status: Joi.string<StepStatus>().valid(...stepStatuses) },
  optional: {
    started_at: time('Start time.'),
    completed_at: time('End time.'),
    next_attempt_at: time('Time of the next retry.'),
    attempts: count('Number of dispatches.'),
    input: Joi.any().description('Input of the step.'),
    output: Joi.any().description('Output of the step.'),
    result_ptr: text('Pointer to the result.'),
    error: runError,
    job_id: jobId.description('Job of the newest attempt.'),
    child_run_id: runId.description('Run that a subworkflow step started.'),
    item: Joi.any().description('Item of a fan-out.'),
    children: anyObject('Step runs of the items of a fan-out, by step id.'),
    resolved_items: Joi.array().items(Joi.any()).description('Items of a fan-out.'),
    skip_reason: text('Why the step was skipped.'),
    audit_hash: text('Hash of its entry in the audit chain.'),
  },
});

export interface TimerView {
  workflow_id: string;
  run_id: string;
  fires_at: string;
  remaining_ms: number;
  step_id?: string;
}
const timerView = shape<TimerView>({
  required: {
    workflow_id: workflowId,
    run_id: runId,
    fires_at: time('Time at which it fires.'),
    remaining_ms: count('Time until it fires, in ms.'),
  },
  optional: { step_id: stepId },
});

export interface RunView {
  id: string;
  workflow_id: string;
  org_id: string;
  team_id: string;
  input: Record<string, unknown>;
  context: Record<string, unknown>;
  status: RunStatus;
  started_at: string | null;
  completed_at: string | null;
  output: unknown;
  error: RunErrorView | null;
  steps: Record<string, StepRunView>;
  total_cost: number;
  triggered_by: string;
  created_at: string;
  updated_at: string;
  workflow_revision?: number;
  labels?: Record<string, string>;
  metadata?: Record<string, string>;
  idempotency_key?: string;
  rerun_of?: string;
  rerun_step?: string;
  dry_run?: boolean;
  current_step?: string;
  timers?: TimerView[];
}

export const runView = shape<RunView>({
  required: {
    id: runId,
    workflow_id: workflowId,
    org_id: text('Tenant.'),
    team_id: text('Team.'),
    input: anyObject('Input of the run.'),
    context: anyObject('The variable ctx of its expressions; step outputs are under steps.'),
    status: Joi.string<RunStatus>().valid(...runStatuses),
    started_at: time('Start time.').allow(null),
    completed_at: time('End time.').allow(null),
    output: Joi.any().description('Output of the run; null until it has ended.'),
    error: runError.allow(null),
    steps: Joi.object().pattern(/.*/, stepRunView).description('Evaluated steps, by step id.'),
    total_cost: Joi.number().min(0).description('Known cost in US dollars.'),
    triggered_by: text('Identity that started it.'),
    created_at: time('Time of acceptance.'),
    updated_at: time('Time of the last change.'),
  },
  optional: {
    workflow_revision: count('Revision of the workflow definition.'),
    labels: stringMap('Labels.'),
    metadata: stringMap('Metadata.'),
    idempotency_key: text('Idempotency key.'),
    rerun_of: runId.description('Run that it repeats.'),
    rerun_step: text('Step from which it repeats that run.'),
    dry_run: Joi.boolean().description('Whether this is a dry run; jobs of a dry run have the label dry_run.'),
    current_step: text('First running or waiting step, in the order of step ids.'),
    timers: Joi.array()
      .items(timerView)
      .description('Pending timers; only when a single run is read, absent if there are none.'),
  },
});
