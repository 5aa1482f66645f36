import type { RunStatus, StepStatus } from '@svc/lifecycle';
import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, jobId, strings, text } from '../fields';
import { shape } from '../shape';
import {
  blockerFields,
  buildCheckSchema,
  endedBy,
  givesUp,
  jobBlockers,
  type Blocker,
  type EndedBy,
  type ExplainCheck,
  type GivesUp,
} from './job-explain';
import {
  readWorkflows as read,
  runError,
  runId,
  runStatuses,
  stepId,
  stepStatuses,
  time,
  workflowId,
  type RunErrorView,
} from '../workflows/workflow-fields';

/** Kinds of waits of a step or of a whole run. */
export const waitKinds = ['engine', 'lock', 'job', 'approval', 'signal', 'timer', 'retry', 'slot', 'child_run', 'dependency', 'cancel', 'compensation'] as const; // prettier-ignore

/** One wait of a run. */
export interface RunWait extends Blocker<(typeof waitKinds)[number]> {
  /** Absent: the run as a whole waits. */
  step_id?: string;
  job_id?: string;
  job_state?: string;
  job_blocked_by?: string;
  child_run_id?: string;
  steps?: string[];
  /** A worker, timer or child run is making progress; nothing blocks it. */
  under_way: boolean;
}
/** Why one step has its status. */
export interface StepExplanation {
  step_id: string;
  step_type: string;
  status: StepStatus;
  why: string;
  depends_on: { step_id: string; status: StepStatus; satisfied: boolean }[];
  rule_id?: string;
  decision?: string;
}
export const runChecks = ['engine', 'lock', 'deadline', 'ending', 'slots', 'steps'] as const;

export interface ExplainView {
  run_id: string;
  workflow_id: string;
  status: RunStatus;
  summary: string;
  blocked_by: RunWait | null;
  waits: RunWait[];
  more_waits: number;
  checks: ExplainCheck<(typeof runChecks)[number]>[];
  steps: StepExplanation[];
  gives_up: GivesUp | null;
  explained_at: string;
  ended_by?: EndedBy;
  failed_step?: string;
  error?: RunErrorView;
}

const wait = shape<RunWait>({
  required: {
    kind: Joi.string<RunWait['kind']>().valid(...waitKinds),
    ...blockerFields.required,
    under_way: Joi.boolean().description('A worker, timer or child run is making progress; nothing blocks it.'),
  },
  optional: {
    ...blockerFields.optional,
    step_id: stepId,
    job_id: jobId,
    job_state: text('State of the job.'),
    job_blocked_by: Joi.string()
      .valid(...jobBlockers)
      .description('Blocker of the job.'),
    child_run_id: runId,
    steps: strings('Steps on which it waits.'),
  },
});

/** Why a run has its status: the first blocker, and the waits and decisions of each step. */
export const explainRun = endpoint({
  id: 'runs.explain',
  method: 'get',
  path: '/api/v1/workflow-runs/:id/explain',
  summary: 'Why a run has its status',
  access: read,
  params: { id: runId },
  answer: {
    status: 200,
    body: shape<ExplainView>({
      required: {
        run_id: runId,
        workflow_id: workflowId,
        status: Joi.string<RunStatus>().valid(...runStatuses),
        summary: text('One-sentence summary.'),
        blocked_by: wait.allow(null).description('The first blocker; null when the run is progressing or has ended.'),
        waits: Joi.array().items(wait),
        more_waits: count('Number of waits not listed.'),
        checks: Joi.array().items(buildCheckSchema(runChecks)),
        steps: Joi.array().items(
          shape<StepExplanation>({
            required: {
              step_id: stepId,
              step_type: text('Kind of step.'),
              status: Joi.string<StepStatus>().valid(...stepStatuses),
              why: text('Why the step has this status.'),
              depends_on: Joi.array().items(
                shape<StepExplanation['depends_on'][number]>({
                  required: {
                    step_id: stepId,
                    status: Joi.string<StepStatus>().valid(...stepStatuses),
                    satisfied: Joi.boolean().description('This dependency no longer blocks the step.'),
                  },
                }),
              ),
            },
            optional: { rule_id: text('Policy rule of the decision.'), decision: text('Policy decision.') },
          }),
        ),
        gives_up: givesUp,
        explained_at: time('Time of this explanation.'),
      },
      optional: { ended_by: endedBy, failed_step: stepId, error: runError },
    }),
  },
  errors: ['run_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});
