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
    content: text('The candidate as it is stored, YAML.'),
    metadata: stringMap('What was noted with it.'),
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
  summary: 'Try a text in the place of a policy bundle beside the live policy, without effect',
  description:
    'From now on each decision about a job of the caller’s tenant is made once more as if this text stood in the place of the bundle, and what would differ is recorded. A tenant has one such shadow for each bundle; writing it again begins a new one, under a new shadow_bundle_id.',
  owner: 'installation',
  access: policyWrite,
  params: bundleParams,
  query: bundleQuery,
  body: shape<ShadowBody>({
    required: { content: Joi.string().description('The policy document to try, YAML.'), metadata },
  }),
  violationCodes: { content: 'policy_validation_failed' },
  answer: { status: 200, body: view },
  errors: ['policy_validation_failed', 'bundle_not_found', 'policy_shadow_conflict'],
});

export const getShadow = endpoint({
  id: 'policy.getShadow',
  method: 'get',
  path,
  summary: 'The shadow of a policy bundle',
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
  description: 'Its results stay readable for 30 days after they were made.',
  otherTenant: 'absent',
  access: policyWrite,
  params: bundleParams,
  query: bundleQuery,
  answer: { status: 204 },
  errors: ['shadow_policy_not_found', 'policy_shadow_conflict'],
});

export const shadowDiffs = ['escalated', 'relaxed', 'approval_differ', 'unchanged'] as const;
/** How the shadow’s verdict differs from the live one. */
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
  to: ms('... and before this one, at most 30 days later.'),
};
const invalid = 'policy_shadow_query_invalid' as const;
const invalidOf = (...fields: string[]) =>
  Object.fromEntries(['from', 'to', ...fields].map((field) => [field, invalid]));
const errors = ['shadow_policy_not_found', invalid] as const;
const cut = Joi.boolean().description('There are more results than one query reads; what it tells is of the newest.');

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
  summary: 'How often a shadow decided otherwise than the live policy',
  description:
    'Every shadow that the bundle had in this time counts; begin at activated_at to see only the one that is there now. The counts may be a minute old.',
  otherTenant: 'absent',
  access: policyRead,
  params: bundleParams,
  query: shape<ShadowWindow>({ required: windowFields, optional: bundleIdField }),
  violationCodes: invalidOf(),
  answer: {
    status: 200,
    body: shape<ShadowSummaryView>({
      required: {
        bundle_id: text('Bundle.'),
        shadow_bundle_id: text('Its shadow; after that ended, the last one with a result in this time, or empty.'),
        from_ms: ms('As asked.'),
        to_ms: ms('As asked.'),
        total_evaluated: count('Decisions that were compared.'),
        escalated_count: count('... of which the shadow’s was stricter.'),
        relaxed_count: count('... of which the shadow’s was less strict.'),
        approval_differ_count: count('... of which only one asked for an approval.'),
        unchanged_count: count('... of which both were the same.'),
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
    ts_ms: ms('When it was recorded.'),
    job_id: text('Job that was decided about.'),
    agent_id: text('Agent it was for; empty when none is named.'),
    shadow_bundle_id: text('Shadow that was compared.'),
    active_verdict: text('What the live policy decided.'),
    shadow_verdict: text('What the shadow would have.'),
    diff: Joi.string<ShadowDiff>().valid(...shadowDiffs),
    active_rule_id: text('Rule of the live policy; empty for the default.'),
    shadow_rule_id: text('Rule of the shadow; empty for the default.'),
    latency_ms: text('How long the shadow took, in ms.'),
    seq: count('Tells results of one ms apart.'),
  },
});

export const shadowComparisons = endpoint({
  id: 'policy.shadowComparisons',
  method: 'get',
  path: `${path}/results/comparisons`,
  summary: 'What a shadow decided about which job, newest first',
  otherTenant: 'absent',
  access: policyRead,
  params: bundleParams,
  query: shape<ShadowComparisonsQuery>({
    required: {
      ...windowFields,
      diff: Joi.string<ShadowDiff | 'all'>()
        .valid('all', ...shadowDiffs)
        .default('all')
        .description('Only results that differ so.'),
      limit: Joi.number().integer().min(1).max(500).default(50).description('Page size.'),
    },
    optional: {
      ...bundleIdField,
      cursor: Joi.string()
        .pattern(/^\d{1,15}-\d{1,15}$/)
        .messages({ 'string.pattern.base': '{{#label}} must be the next_cursor of the page before' })
        .description('Where the last page ended: its next_cursor, unchanged.'),
    },
  }),
  violationCodes: invalidOf('diff', 'limit', 'cursor'),
  answer: {
    status: 200,
    body: shape<ShadowComparisonsView>({
      required: {
        entries: Joi.array().items(comparison),
        next_cursor: text('For the next page; empty at the end.'),
        truncated_at_max: Joi.boolean().description('The search stopped early; next_cursor goes on with it.'),
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
  summary: 'How a shadow decided, over time',
  otherTenant: 'absent',
  access: policyRead,
  params: bundleParams,
  query: shape<ShadowTimeseriesQuery>({
    required: {
      ...windowFields,
      bucket: Joi.string<ShadowBucket>()
        .valid(...shadowBuckets)
        .description('Length of a bucket; at most 2000 of them.'),
    },
    optional: bundleIdField,
  }),
  violationCodes: invalidOf('bucket'),
  answer: {
    status: 200,
    body: shape<ShadowTimeseriesView>({
      required: {
        bucket: Joi.string<ShadowBucket>().valid(...shadowBuckets),
        from_ms: ms('As asked, down to the beginning of its bucket (UTC).'),
        to_ms: ms('As asked.'),
        buckets: Joi.array()
          .items(
            shape<ShadowBucketView>({
              required: {
                ts_ms: ms('Where it begins.'),
                escalated: count('The shadow was stricter.'),
                relaxed: count('The shadow was less strict.'),
                approval_differ: count('Only one asked for an approval.'),
                unchanged: count('Both were the same.'),
                total: count('All of them.'),
              },
            }),
          )
          .description('All of that time, oldest first, empty ones too.'),
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
