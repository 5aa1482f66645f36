import Joi from 'joi';
import { endpoint } from '../endpoint';
import { moment, text } from '../fields';
import { shape } from '../shape';
import { forceQuery } from './datasets';
import {
  type ChosenPolicyView,
  chosenPolicy,
  evalCursor,
  evalId,
  type EvalInput,
  evalInput,
  evalPage,
  type EvalProgress,
  evalProgress,
  type EvalSummaryView,
  evalSummary,
  type EvaluatedDataset,
  evaluatedDataset,
  type EvalVerdict,
  evalVerdict,
  executeRuns,
  instant,
  maxEntries,
  nextCursor,
  type PolicyChoice,
  policyChoice,
  readRuns,
  removeRuns,
} from './eval-fields';

export interface EvalRunBody extends PolicyChoice {
  max_entries?: number;
}
/** The outcome of an entry. See docs/reference/evals.md#scores. */
export interface EvalRunEntry {
  entry_id: string;
  input: EvalInput;
  expected_decision: EvalVerdict;
  rule_id: string;
  reason: string;
  status: 'pass' | 'fail' | 'regression' | 'error';
  actual_decision?: EvalVerdict;
  drift_direction?: 'escalated' | 'relaxed' | 'unchanged';
  error?: string;
}
export interface EvalRunItem extends EvaluatedDataset {
  run_id: string;
  status: 'pending' | 'running' | 'failed' | 'completed';
  policy: ChosenPolicyView;
  started_at: string;
  completed_at?: string;
  policy_snapshot?: string;
  summary?: EvalSummaryView;
  error?: string;
}
export interface EvalRunResult extends EvaluatedDataset {
  run_id: string;
  status: 'completed';
  policy: ChosenPolicyView;
  policy_snapshot: string;
  started_at: string;
  completed_at: string;
  summary: EvalSummaryView;
  entries: EvalRunEntry[];
}
export interface EvalRunState extends EvaluatedDataset, EvalProgress {
  run_id: string;
}
export interface EvalStarted {
  run_id: string;
  status: 'pending';
  poll_url: string;
}

const runEntry = shape<EvalRunEntry>({
  required: {
    entry_id: text('Entry of the dataset.'),
    input: evalInput,
    expected_decision: evalVerdict('Decision that the dataset expects.'),
    rule_id: text('Rule of the decision; empty for the default.'),
    reason: text('Reason of the decision.'),
    status: Joi.string<EvalRunEntry['status']>().valid('pass', 'fail', 'regression', 'error'),
  },
  optional: {
    actual_decision: evalVerdict('Decision of the policy; absent when there is none.'),
    drift_direction: Joi.string<NonNullable<EvalRunEntry['drift_direction']>>()
      .valid('escalated', 'relaxed', 'unchanged')
      .description('Stricter, less strict, or as expected.'),
    error: text('Reason that there is no decision.'),
  },
});
const common = {
  ...evaluatedDataset,
  run_id: text('Run id.'),
  policy: chosenPolicy,
  started_at: instant('Start.'),
};
const runItem = shape<EvalRunItem>({
  required: {
    ...common,
    status: Joi.string<EvalRunItem['status']>().valid('pending', 'running', 'failed', 'completed'),
  },
  optional: {
    completed_at: instant('End.'),
    policy_snapshot: text('Policy that was evaluated.'),
    summary: evalSummary,
    error: text('Reason of the failure.'),
  },
});
const runResult = shape<EvalRunResult>({
  required: {
    ...common,
    status: Joi.string<'completed'>().valid('completed'),
    policy_snapshot: text('Policy that was evaluated.'),
    completed_at: instant('End.'),
    summary: evalSummary,
    entries: Joi.array().items(runEntry).description('Outcomes, in the order of the dataset.'),
  },
});
const runState = shape<EvalRunState>({
  required: { ...evaluatedDataset, run_id: text('Run id.'), ...evalProgress.required },
  optional: evalProgress.optional,
});
const started = shape<EvalStarted>({
  required: {
    run_id: text('Run id.'),
    status: Joi.string<'pending'>().valid('pending'),
    poll_url: text('Path of the run.'),
  },
});

const params = { id: evalId.description('Dataset id.') };
const runParams = { id: evalId.description('Run id.') };

export const runDataset = endpoint({
  id: 'evals.run',
  audit: { type: 'governance.eval', action: 'eval_run.start', resource: ['eval_dataset', 'id'], severity: 'LOW' },
  method: 'post',
  path: '/api/v1/evals/datasets/:id/run',
  summary: 'Evaluate a policy on a dataset',
  description:
    'Up to 500 entries are evaluated at once; a larger run continues in the background. Nothing is counted in velocity windows, and no decision is recorded.',
  access: executeRuns,
  otherTenant: 'absent',
  params,
  bodyOptional: true,
  body: shape<EvalRunBody>({ required: {}, optional: { ...policyChoice, max_entries: maxEntries } }),
  answer: { status: 200, body: runResult },
  otherAnswers: { 202: { description: 'The run continues in the background.', body: started } },
  errors: [
    'eval_dataset_not_found', 'eval_run_not_runnable', 'eval_run_conflict', 'eval_storage_full', 'rate_limited',
    'policy_validation_failed', 'safety_unavailable', 'upstream_service_error',
  ],
}); // prettier-ignore

export interface EvalRunsQuery {
  limit: number;
  has_regression?: boolean;
  since?: number;
  until?: number;
  min_score?: number;
  cursor?: string;
}

export const listEvalRuns = endpoint({
  id: 'evals.listRuns',
  method: 'get',
  path: '/api/v1/evals/datasets/:id/runs',
  summary: 'Runs of an evaluation dataset, newest first',
  access: readRuns,
  otherTenant: 'absent',
  params,
  query: shape<EvalRunsQuery>({
    required: { limit: evalPage },
    optional: {
      has_regression: Joi.boolean().description('Only completed runs with, or without, regressions.'),
      since: moment('Only runs started at or after this time; RFC 3339, or ms since the epoch.'),
      until: moment('Only runs started at or before this time.'),
      min_score: Joi.number().min(0).max(100).description('Only completed runs with at least this score.'),
      cursor: evalCursor,
    },
  }),
  answer: {
    status: 200,
    body: shape<{ items: EvalRunItem[]; next_cursor: string }>({
      required: { items: Joi.array().items(runItem), next_cursor: nextCursor },
    }),
  },
  errors: ['eval_dataset_not_found'],
});

export const getEvalRun = endpoint({
  id: 'evals.getRun',
  method: 'get',
  path: '/api/v1/evals/runs/:id',
  summary: 'Read a run of an evaluation dataset',
  access: readRuns,
  otherTenant: 'absent',
  params: runParams,
  answer: {
    status: 200,
    body: Joi.alternatives(runResult, runState) as Joi.Schema<EvalRunResult | EvalRunState>,
  },
  otherAnswers: { 202: { description: 'The run has not ended.', body: runState } },
  errors: ['eval_run_not_found'],
});

export const removeEvalRun = endpoint({
  id: 'evals.removeRun',
  audit: { type: 'governance.eval', action: 'eval_run.remove', resource: ['eval_run', 'id'], severity: 'LOW' },
  method: 'delete',
  path: '/api/v1/evals/runs/:id',
  summary: 'Delete a run of an evaluation dataset',
  access: removeRuns,
  otherTenant: 'absent',
  params: runParams,
  query: forceQuery,
  answer: { status: 204 },
  errors: ['eval_run_not_found'],
});

export const evalRunEndpoints = [runDataset, listEvalRuns, getEvalRun, removeEvalRun] as const;
