import type { RunStatus, StepStatus } from '@svc/lifecycle';
import Joi from 'joi';
import { endpoint } from '../endpoint';
import { jobId, strings, text } from '../fields';
import { shape } from '../shape';
import {
  readWorkflows as read,
  runError,
  runId,
  stepId,
  stepStatuses,
  runStatuses,
  time,
  workflowId,
  type RunErrorView,
} from './workflow-fields';

export const waitKinds = ['job', 'approval', 'signal', 'timer', 'retry', 'slot', 'child_run', 'dependency', 'input'] as const; // prettier-ignore

/** One thing a run waits for. */
export interface RunWait {
  kind: (typeof waitKinds)[number];
  step_id: string;
  what: string;
  since?: string;
  until?: string;
  job_id?: string;
  job_state?: string;
  child_run_id?: string;
  steps?: string[];
}
/** How one step came to be where it is. */
export interface StepExplanation {
  step_id: string;
  step_type: string;
  status: StepStatus;
  why: string;
  depends_on: { step_id: string; status: StepStatus; satisfied: boolean }[];
  rule_id?: string;
  decision?: string;
}
export interface ExplainView {
  run_id: string;
  workflow_id: string;
  status: RunStatus;
  summary: string;
  waits: RunWait[];
  steps: StepExplanation[];
  failed_step?: string;
  error?: RunErrorView;
}

/** Why a run is where it is: what it waits for, and what decided for each step. */
export const explainRun = endpoint({
  id: 'runs.explain',
  method: 'get',
  path: '/api/v1/workflow-runs/:id/explain',
  summary: 'Why a run is where it is',
  access: read,
  params: { id: runId },
  answer: {
    status: 200,
    body: shape<ExplainView>({
      required: {
        run_id: runId,
        workflow_id: workflowId,
        status: Joi.string<RunStatus>().valid(...runStatuses),
        summary: text('In one sentence.'),
        waits: Joi.array().items(
          shape<RunWait>({
            required: {
              kind: Joi.string<RunWait['kind']>().valid(...waitKinds),
              step_id: stepId,
              what: text('What must happen, in words.'),
            },
            optional: {
              since: time('Since when it waits.'),
              until: time('When it goes on by itself, or gives up.'),
              job_id: jobId,
              job_state: text('State of that job.'),
              child_run_id: runId,
              steps: strings('Steps it waits for.'),
            },
          }),
        ),
        steps: Joi.array().items(
          shape<StepExplanation>({
            required: {
              step_id: stepId,
              step_type: text('Kind of step.'),
              status: Joi.string<StepStatus>().valid(...stepStatuses),
              why: text('Why it is in this status.'),
              depends_on: Joi.array().items(
                shape<StepExplanation['depends_on'][number]>({
                  required: {
                    step_id: stepId,
                    status: Joi.string<StepStatus>().valid(...stepStatuses),
                    satisfied: Joi.boolean().description('The step may go on as far as this one is concerned.'),
                  },
                }),
              ),
            },
            optional: { rule_id: text('Policy rule that decided.'), decision: text('What it decided.') },
          }),
        ),
      },
      optional: { failed_step: stepId, error: runError },
    }),
  },
  errors: ['run_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});
