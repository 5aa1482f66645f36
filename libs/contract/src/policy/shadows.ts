import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, stringMap, text } from '../fields';
import { shape } from '../shape';
import {
  bundleIdField,
  bundleParams,
  bundleQuery,
  policyRead,
  policyWrite,
  shadowHead,
  type BundleIdQuery,
  type ShadowHead,
} from './fields';

const path = '/api/v1/policy/shadows/:bundle_id' as const;
const metadataKeys = 32;
const metadataChars = 1_024;

/** See docs/reference/policy.md#shadow-policies. */
export interface ShadowView extends ShadowHead {
  content: string;
  metadata: Record<string, string>;
}
export interface ShadowBody {
  content: string;
  metadata: Record<string, string>;
}

const view = shape<ShadowView>({
  required: {
    ...shadowHead,
    content: text('Stored candidate policy document, YAML.'),
    metadata: stringMap('Notes.'),
  },
});
const metadata = Joi.object<Record<string, string>>()
  .pattern(/^.{1,128}$/, Joi.string().allow('').max(metadataChars))
  .max(metadataKeys)
  .default({})
  .description(`Notes, at most ${metadataKeys}.`);

export const putShadow = endpoint({
  id: 'policy.putShadow',
  method: 'put',
  path,
  summary: 'Run a candidate bundle in shadow mode',
  description:
    'From now on, each decision about a job of the caller’s tenant is also evaluated with this text in place of the bundle, and differences are recorded. The shadow has no effect on jobs. A tenant has one shadow per bundle; another write starts a new shadow with a new shadow_bundle_id.',
  owner: 'installation',
  access: policyWrite,
  audit: { type: 'safety.policy_change', action: 'shadow.put', resource: ['policy', 'bundle_id'], severity: 'LOW' },
  params: bundleParams,
  query: bundleQuery,
  body: shape<ShadowBody>({
    required: { content: Joi.string().description('Candidate policy document, YAML.'), metadata },
  }),
  violationCodes: { content: 'policy_validation_failed' },
  answer: { status: 200, body: view },
  errors: ['policy_validation_failed', 'bundle_not_found', 'policy_shadow_conflict'],
});

export const getShadow = endpoint({
  id: 'policy.getShadow',
  method: 'get',
  path,
  summary: 'Read the shadow of a policy bundle',
  otherTenant: 'absent',
  access: policyRead,
  params: bundleParams,
  query: bundleQuery,
  answer: { status: 200, body: view },
  errors: ['shadow_policy_not_found'],
});

export const removeShadow = endpoint({
  id: 'policy.removeShadow',
  method: 'delete',
  path,
  summary: 'End the shadow of a policy bundle',
  description: 'Results remain readable for 30 days after they were recorded.',
  otherTenant: 'absent',
  access: policyWrite,
  audit: { type: 'safety.policy_change', action: 'shadow.remove', resource: ['policy', 'bundle_id'], severity: 'LOW' },
  params: bundleParams,
  query: bundleQuery,
  answer: { status: 204 },
  errors: ['shadow_policy_not_found', 'policy_shadow_conflict'],
});

export const shadowDiffs = ['escalated', 'relaxed', 'approval_differ', 'unchanged'] as const;
/** How the shadow’s decision differs from the live one. */
export type ShadowDiff = (typeof shadowDiffs)[number];
export const shadowBuckets = ['1m', '5m', '15m', '1h', '1d'] as const;
export type ShadowBucket = (typeof shadowBuckets)[number];

export interface ShadowWindow extends BundleIdQuery {
  from: number;
  to: number;
}

const ms = (description: string) => Joi.number().integer().min(0).description(`${description} Unix ms.`);
const windowFields = {
  from: ms('Results from this time on.'),
  to: ms('Results before this time, at most 30 days later.'),
};
const invalid = 'policy_shadow_query_invalid' as const;
const invalidFields = (...fields: string[]) =>
  Object.fromEntries(['from', 'to', ...fields].map((field) => [field, invalid]));
const errors = ['shadow_policy_not_found', invalid] as const;
const cut = Joi.boolean().description('There are more results than one query reads; only the newest are included.');

export interface ShadowSummaryView {
  bundle_id: string;
  shadow_bundle_id: string;
  from_ms: number;
  to_ms: number;
  total_evaluated: number;
  escalated_count: number;
  relaxed_count: number;
  approval_differ_count: number;
  unchanged_count: number;
  truncated_at_max: boolean;
}

export const shadowSummary = endpoint({
  id: 'policy.shadowSummary',
  method: 'get',
  path: `${path}/results/summary`,
  summary: 'Summary of how a shadow differs from the live policy',
  description:
    'Includes every shadow that the bundle had in this period; start at activated_at to include only the current one. Counts may be up to one minute old.',
  otherTenant: 'absent',
  access: policyRead,
  params: bundleParams,
  query: shape<ShadowWindow>({ required: windowFields, optional: bundleIdField }),
  violationCodes: invalidFields(),
  answer: {
    status: 200,
    body: shape<ShadowSummaryView>({
      required: {
        bundle_id: text('Bundle id.'),
        shadow_bundle_id: text(
          'Current shadow; after it was removed, the last one with a result in this period, or empty.',
        ),
        from_ms: ms('Start of the query.'),
        to_ms: ms('End of the query.'),
        total_evaluated: count('Compared decisions.'),
        escalated_count: count('Decisions where the shadow was stricter.'),
        relaxed_count: count('Decisions where the shadow was less strict.'),
        approval_differ_count: count('Decisions where only one of the two required approval.'),
        unchanged_count: count('Decisions that were the same.'),
        truncated_at_max: cut,
      },
    }),
  },
  errors,
});

export interface ShadowComparisonsQuery extends ShadowWindow {
  diff: ShadowDiff | 'all';
  limit: number;
  cursor?: string;
}
export interface ShadowComparison {
  ts_ms: number;
  job_id: string;
  agent_id: string;
  shadow_bundle_id: string;
  active_verdict: string;
  shadow_verdict: string;
  diff: ShadowDiff;
  active_rule_id: string;
  shadow_rule_id: string;
  latency_ms: string;
  seq: number;
}
export interface ShadowComparisonsView {
  entries: ShadowComparison[];
  next_cursor: string;
  truncated_at_max: boolean;
}

const comparison = shape<ShadowComparison>({
  required: {
    ts_ms: ms('Time of the record.'),
    job_id: text('Job of the decision.'),
    agent_id: text('Agent of the job; empty = none.'),
    shadow_bundle_id: text('Compared shadow.'),
    active_verdict: text('Decision of the live policy.'),
    shadow_verdict: text('Decision of the shadow.'),
    diff: Joi.string<ShadowDiff>().valid(...shadowDiffs),
    active_rule_id: text('Rule of the live policy; empty for the default.'),
    shadow_rule_id: text('Rule of the shadow; empty for the default.'),
    latency_ms: text('Evaluation time of the shadow, in ms.'),
    seq: count('Sequence number within one ms.'),
  },
});

export const shadowComparisons = endpoint({
  id: 'policy.shadowComparisons',
  method: 'get',
  path: `${path}/results/comparisons`,
  summary: 'Decisions of a shadow by job, newest first',
  otherTenant: 'absent',
  access: policyRead,
  params: bundleParams,
  query: shape<ShadowComparisonsQuery>({
    required: {
      ...windowFields,
      diff: Joi.string<ShadowDiff | 'all'>()
        .valid('all', ...shadowDiffs)
        .default('all')
        .description('Only results with this difference.'),
      limit: Joi.number().integer().min(1).max(500).default(50).description('Page size.'),
    },
    optional: {
      ...bundleIdField,
      cursor: Joi.string()
        .pattern(/^\d{1,15}-\d{1,15}$/)
        .messages({ 'string.pattern.base': '{{#label}} must be the next_cursor of the page before' })
        .description('next_cursor of the last page, unchanged.'),
    },
  }),
  violationCodes: invalidFields('diff', 'limit', 'cursor'),
  answer: {
    status: 200,
    body: shape<ShadowComparisonsView>({
      required: {
        entries: Joi.array().items(comparison),
        next_cursor: text('Cursor of the next page; empty on the last page.'),
        truncated_at_max: Joi.boolean().description('The search stopped early; next_cursor continues it.'),
      },
    }),
  },
  errors,
});

export interface ShadowTimeseriesQuery extends ShadowWindow {
  bucket: ShadowBucket;
}
export interface ShadowBucketView extends Record<ShadowDiff, number> {
  ts_ms: number;
  total: number;
}
export interface ShadowTimeseriesView {
  bucket: ShadowBucket;
  from_ms: number;
  to_ms: number;
  buckets: ShadowBucketView[];
  truncated_at_max: boolean;
}

export const shadowTimeseries = endpoint({
  id: 'policy.shadowTimeseries',
  method: 'get',
  path: `${path}/results/timeseries`,
  summary: 'Decisions of a shadow over time',
  otherTenant: 'absent',
  access: policyRead,
  params: bundleParams,
  query: shape<ShadowTimeseriesQuery>({
    required: {
      ...windowFields,
      bucket: Joi.string<ShadowBucket>()
        .valid(...shadowBuckets)
        .description('Length of a bucket; at most 2000 buckets.'),
    },
    optional: bundleIdField,
  }),
  violationCodes: invalidFields('bucket'),
  answer: {
    status: 200,
    body: shape<ShadowTimeseriesView>({
      required: {
        bucket: Joi.string<ShadowBucket>().valid(...shadowBuckets),
        from_ms: ms('Start of the query, rounded down to a bucket (UTC).'),
        to_ms: ms('End of the query.'),
        buckets: Joi.array()
          .items(
            shape<ShadowBucketView>({
              required: {
                ts_ms: ms('Start of the bucket.'),
                escalated: count('Decisions where the shadow was stricter.'),
                relaxed: count('Decisions where the shadow was less strict.'),
                approval_differ: count('Decisions where only one of the two required approval.'),
                unchanged: count('Decisions that were the same.'),
                total: count('Compared decisions.'),
              },
            }),
          )
          .description('Buckets, oldest first, including empty ones.'),
        truncated_at_max: cut,
      },
    }),
  },
  errors,
});

export const shadowEndpoints = [
  putShadow,
  getShadow,
  removeShadow,
  shadowSummary,
  shadowComparisons,
  shadowTimeseries,
] as const;
