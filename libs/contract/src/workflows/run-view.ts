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
    started_at: time('When it began.'),
    completed_at: time('When it ended.'),
    next_attempt_at: time('When it is tried again.'),
    attempts: count('How often it was given to a worker.'),
    input: Joi.any().description('What it was given.'),
    output: Joi.any().description('What it returned.'),
    result_ptr: text('Where its result is kept.'),
    error: runError,
    job_id: jobId.description('Job of the newest attempt.'),
    child_run_id: runId.description('Run that a subworkflow step started.'),
    item: Joi.any().description('Item of a fan-out.'),
    children: anyObject('Parts of a fan-out by their step id, each a step run.'),
    resolved_items: Joi.array().items(Joi.any()).description('Items of a fan-out.'),
    skip_reason: text('Why it did not run.'),
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
    fires_at: time('When it fires.'),
    remaining_ms: count('How long until then, in ms.'),
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
    input: anyObject('What it was started with.'),
    context: anyObject('ctx of its expressions; outputs of its steps are under steps.'),
    status: Joi.string<RunStatus>().valid(...runStatuses),
    started_at: time('When it began.').allow(null),
    completed_at: time('When it ended.').allow(null),
    output: Joi.any().description('What it returned; null until then.'),
    error: runError.allow(null),
    steps: Joi.object().pattern(/.*/, stepRunView).description('Steps that were looked at, by their id.'),
    total_cost: Joi.number().min(0).description('In USD, as far as known.'),
    triggered_by: text('Who started it.'),
    created_at: time('When it was accepted.'),
    updated_at: time('Last change.'),
  },
  optional: {
    workflow_revision: count('Revision of the definition it runs.'),
    labels: stringMap('Labels.'),
    metadata: stringMap('Metadata.'),
    idempotency_key: text('Key it was started with.'),
    rerun_of: runId.description('Run it repeats.'),
    rerun_step: text('Step from which it repeats it.'),
    dry_run: Joi.boolean().description('Workers were told to do nothing.'),
    current_step: text('First step, in the order of their ids, that is running or waiting.'),
    timers: Joi.array().items(timerView).description('Of one run only; absent when none is set.'),
  },
});
