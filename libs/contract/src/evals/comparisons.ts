import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text } from '../fields';
import { shape } from '../shape';
import { forceQuery } from './datasets';
import {
  type ChosenPolicyView,
  chosenPolicy,
  evalCursor,
  evalId,
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

/** Two policies to evaluate on the same dataset. See docs/reference/evals.md#comparisons. */
export interface ComparisonBody {
  left: PolicyChoice;
  right: PolicyChoice;
  max_entries?: number;
}
export interface ComparedPolicyView {
  policy: ChosenPolicyView;
  policy_snapshot: string;
  summary: EvalSummaryView;
}
export interface ComparedOutcomeView {
  status: 'pass' | 'fail' | 'regression' | 'error';
  rule_id: string;
  reason: string;
  decision?: EvalVerdict;
  error?: string;
}
export interface EvalDifferenceView {
  entry_id: string;
  topic: string;
  expected_decision: EvalVerdict;
  left: ComparedOutcomeView;
  right: ComparedOutcomeView;
  effect: 'fixed' | 'broken' | 'none';
  direction?: 'escalated' | 'relaxed';
}
export type ComparisonCounts = Record<
  'total' | 'unchanged' | 'escalated' | 'relaxed' | 'fixed' | 'broken' | 'errored',
  number
>;
export interface ComparisonItem extends EvaluatedDataset {
  comparison_id: string;
  status: 'pending' | 'running' | 'failed' | 'completed';
  left: ChosenPolicyView;
  right: ChosenPolicyView;
  started_at: string;
  completed_at?: string;
  counts?: ComparisonCounts;
  error?: string;
}
export interface ComparisonResult extends EvaluatedDataset {
  comparison_id: string;
  status: 'completed';
  started_at: string;
  completed_at: string;
  left: ComparedPolicyView;
  right: ComparedPolicyView;
  counts: ComparisonCounts;
  differences: EvalDifferenceView[];
}
export interface ComparisonState extends EvaluatedDataset, EvalProgress {
  comparison_id: string;
}
export interface ComparisonStarted {
  comparison_id: string;
  status: 'pending';
  poll_url: string;
}

const side = shape<ComparedPolicyView>({
  required: {
    policy: chosenPolicy,
    policy_snapshot: text('Policy that was evaluated.'),
    summary: evalSummary,
  },
});
const outcome = shape<ComparedOutcomeView>({
  required: {
    status: Joi.string<ComparedOutcomeView['status']>().valid('pass', 'fail', 'regression', 'error'),
    rule_id: text('Rule of the decision; empty for the default.'),
    reason: text('Reason of the decision.'),
  },
  optional: { decision: evalVerdict('Decision of this policy.'), error: text('Reason that there is no decision.') },
});
const difference = shape<EvalDifferenceView>({
  required: {
    entry_id: text('Entry of the dataset.'),
    topic: text('Topic of the entry.'),
    expected_decision: evalVerdict('Decision that the dataset expects.'),
    left: outcome,
    right: outcome,
    effect: Joi.string<EvalDifferenceView['effect']>()
      .valid('fixed', 'broken', 'none')
      .description('fixed: passes only on the right; broken: only on the left.'),
  },
  optional: {
    direction: Joi.string<'escalated' | 'relaxed'>()
      .valid('escalated', 'relaxed')
      .description('The right decision is stricter, or less strict; absent unless both decided.'),
  },
});
const counts = shape<ComparisonCounts>({
  required: {
    total: count('Compared entries.'),
    unchanged: count('Entries with equal decisions.'),
    escalated: count('Entries with a stricter decision on the right.'),
    relaxed: count('Entries with a less strict decision on the right.'),
    fixed: count('Entries that pass only on the right.'),
    broken: count('Entries that pass only on the left.'),
    errored: count('Entries on which at least one policy made no decision.'),
  },
});
const common = { ...evaluatedDataset, comparison_id: text('Comparison id.'), started_at: instant('Start.') };
const comparisonItem = shape<ComparisonItem>({
  required: {
    ...common,
    left: chosenPolicy,
    right: chosenPolicy,
    status: Joi.string<ComparisonItem['status']>().valid('pending', 'running', 'failed', 'completed'),
  },
  optional: { completed_at: instant('End.'), counts, error: text('Reason of the failure.') },
});
const comparisonResult = shape<ComparisonResult>({
  required: {
    ...common,
    status: Joi.string<'completed'>().valid('completed'),
    completed_at: instant('End.'),
    left: side,
    right: side,
    counts,
    differences: Joi.array().items(difference).description('Entries with different decisions.'),
  },
});
const comparisonState = shape<ComparisonState>({
  required: { ...evaluatedDataset, comparison_id: text('Comparison id.'), ...evalProgress.required },
  optional: evalProgress.optional,
});
const started = shape<ComparisonStarted>({
  required: {
    comparison_id: text('Comparison id.'),
    status: Joi.string<'pending'>().valid('pending'),
    poll_url: text('Path of the comparison.'),
  },
});

const params = { id: evalId.description('Dataset id.') };
const comparisonParams = { id: evalId.description('Comparison id.') };
const choice = (description: string) =>
  shape<PolicyChoice>({ required: {}, optional: policyChoice }).description(description);
const missing = 'eval_comparison_not_found' as const;

export const compareOnDataset = endpoint({
  id: 'evals.compare',
  audit: { type: 'governance.eval', action: 'eval_comparison.start', resource: ['eval_dataset', 'id'], severity: 'LOW' },
  method: 'post',
  path: '/api/v1/evals/datasets/:id/compare',
  summary: 'Compare two policies on a dataset',
  description: 'Counts as one run. Up to 500 entries are evaluated at once; a larger comparison continues in the background.',
  access: executeRuns,
  otherTenant: 'absent',
  params,
  body: shape<ComparisonBody>({
    required: { left: choice('The policy to compare with.'), right: choice('The policy to judge.') },
    optional: { max_entries: maxEntries },
  }),
  answer: { status: 200, body: comparisonResult },
  otherAnswers: { 202: { description: 'The comparison continues in the background.', body: started } },
  errors: [
    'eval_dataset_not_found', 'eval_run_not_runnable', 'eval_run_conflict', 'eval_storage_full', 'rate_limited',
    'policy_validation_failed', 'safety_unavailable', 'upstream_service_error',
  ],
}); // prettier-ignore

export const listComparisons = endpoint({
  id: 'evals.listComparisons',
  method: 'get',
  path: '/api/v1/evals/datasets/:id/comparisons',
  summary: 'Comparisons on an evaluation dataset, newest first',
  access: readRuns,
  otherTenant: 'absent',
  params,
  query: shape<{ limit: number; cursor?: string }>({ required: { limit: evalPage }, optional: { cursor: evalCursor } }),
  answer: {
    status: 200,
    body: shape<{ items: ComparisonItem[]; next_cursor: string }>({
      required: { items: Joi.array().items(comparisonItem), next_cursor: nextCursor },
    }),
  },
  errors: ['eval_dataset_not_found'],
});

export const getComparison = endpoint({
  id: 'evals.getComparison',
  method: 'get',
  path: '/api/v1/evals/comparisons/:id',
  summary: 'Read a comparison of two policies',
  access: readRuns,
  otherTenant: 'absent',
  params: comparisonParams,
  answer: {
    status: 200,
    body: Joi.alternatives(comparisonResult, comparisonState) as Joi.Schema<ComparisonResult | ComparisonState>,
  },
  otherAnswers: { 202: { description: 'The comparison has not ended.', body: comparisonState } },
  errors: [missing],
});

export const comparisonReport = endpoint({
  id: 'evals.comparisonReport',
  method: 'get',
  path: '/api/v1/evals/comparisons/:id/report',
  summary: 'Report of a comparison, as Markdown',
  access: readRuns,
  otherTenant: 'absent',
  params: comparisonParams,
  answer: {
    status: 200,
    body: shape<{ comparison_id: string; markdown: string }>({
      required: { comparison_id: text('Comparison id.'), markdown: text('The report.') },
    }),
  },
  otherAnswers: { 202: { description: 'The comparison has not ended.', body: comparisonState } },
  errors: [missing],
});

export const removeComparison = endpoint({
  id: 'evals.removeComparison',
  audit: {
    type: 'governance.eval',
    action: 'eval_comparison.remove',
    resource: ['eval_comparison', 'id'],
    severity: 'LOW',
  },
  method: 'delete',
  path: '/api/v1/evals/comparisons/:id',
  summary: 'Delete a comparison of two policies',
  access: removeRuns,
  otherTenant: 'absent',
  params: comparisonParams,
  query: forceQuery,
  answer: { status: 204 },
  errors: [missing],
});

export const comparisonEndpoints = [
  compareOnDataset, listComparisons, getComparison, comparisonReport, removeComparison,
] as const; // prettier-ignore
