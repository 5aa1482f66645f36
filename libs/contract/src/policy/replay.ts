import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, strings, text } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';
import { bundleIdChars } from './fields';

const decisions = ['ALLOW', 'DENY', 'REQUIRE_APPROVAL', 'THROTTLE', 'ALLOW_WITH_CONSTRAINTS'] as const;
type DecisionName = (typeof decisions)[number];
const decision = Joi.string<DecisionName>().valid(...decisions);

/** RFC 3339 text, turned to ms since the epoch. */
const time = (description: string): Joi.Schema<number> =>
  Joi.any()
    .custom((value: unknown, helpers) => {
      const ms = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : NaN;
      return Number.isFinite(ms) ? ms : helpers.error('any.invalid');
    })
    .messages({ 'any.invalid': '{{#label}} must be a time such as 2026-01-31T12:00:00Z' })
    .description(`${description} RFC 3339.`) as Joi.Schema<number>;

export interface TimeRange {
  from: string;
  to: string;
}
const timeRange = shape<TimeRange>({ required: { from: text('Start. RFC 3339.'), to: text('End. RFC 3339.') } });

export interface ReplayFilters {
  tenant?: string;
  topic_pattern?: string;
  original_decision?: DecisionName;
}
/** Times are ms here, RFC 3339 text in JSON. See docs/reference/policy.md#replay. */
export interface ReplayBody {
  from: number;
  to: number;
  filters: ReplayFilters;
  use_current_policy: boolean;
  candidate_bundle_id?: string;
  candidate_content?: string;
  max_jobs: number;
}

export interface ReplayView {
  replay_id: string;
  policy_snapshot: string;
  time_range: TimeRange;
  summary: Record<'total_jobs' | 'evaluated' | 'escalated' | 'relaxed' | 'unchanged' | 'errored', number>;
  rule_hits: { rule_id: string; decision: string; count: number }[];
  changes: {
    job_id: string;
    topic: string;
    tenant: string;
    original_decision: string;
    new_decision: string;
    new_rule_id: string;
    new_reason: string;
    direction: string;
  }[];
  warnings: string[];
  errors: { job_id: string; error: string }[];
}

export const replayPolicy = endpoint({
  id: 'policy.replay',
  method: 'post',
  path: '/api/v1/policy/replay',
  summary: 'Replay earlier decisions on the current policy or a candidate bundle',
  access: { permission: 'policy.write', roles: ['admin'] },
  audit: 'none',
  params: {},
  body: shape<ReplayBody>({
    required: {
      from: time('Decisions from this time on.'),
      to: time('Decisions up to this time, at most 7 days later.'),
      filters: shape<ReplayFilters>({
        required: {},
        optional: {
          tenant: text('The caller’s tenant; callers with access to all tenants may name any.').max(limits.idChars),
          topic_pattern: text('Glob of topics.').max(limits.topicChars),
          original_decision: decision.description('Only jobs with this decision.'),
        },
      }).default({}),
      use_current_policy: Joi.boolean().default(false).description('Replay on the policy in effect.'),
      max_jobs: count('Maximum number of jobs; the newest are replayed.').min(1).max(1_000).default(500),
    },
    optional: {
      candidate_bundle_id: Joi.string()
        .min(1)
        .max(bundleIdChars)
        .description('Bundle that candidate_content replaces.'),
      candidate_content: text('Candidate policy document, YAML.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<ReplayView>({
      required: {
        replay_id: text('Id of this replay in logs; it is not stored.'),
        policy_snapshot: text('Policy snapshot of the replay.'),
        time_range: timeRange,
        summary: shape<ReplayView['summary']>({
          required: {
            total_jobs: count('Jobs that match the filters.'),
            evaluated: count('Jobs evaluated again.'),
            escalated: count('Jobs with a stricter decision.'),
            relaxed: count('Jobs with a less strict decision.'),
            unchanged: count('Jobs with the same decision.'),
            errored: count('Jobs whose evaluation failed.'),
          },
        }),
        rule_hits: Joi.array().items(
          shape<ReplayView['rule_hits'][number]>({
            required: { rule_id: text('Rule; empty for the default.'), decision, count: count('Number of decisions.') },
          }),
        ),
        changes: Joi.array().items(
          shape<ReplayView['changes'][number]>({
            required: {
              job_id: text('Job id.'),
              topic: text('Topic of the job.'),
              tenant: text('Tenant of the job.'),
              original_decision: decision,
              new_decision: decision,
              new_rule_id: text('Rule of the new decision; empty for the default.'),
              new_reason: text('Reason of the new decision.'),
              direction: Joi.string().valid('escalated', 'relaxed'),
            },
          }),
        ),
        warnings: strings('Limitations of the replay.'),
        errors: Joi.array().items(
          shape<ReplayView['errors'][number]>({
            required: { job_id: text('Job id.'), error: text('Reason of the failure.') },
          }),
        ),
      },
    }),
  },
  errors: ['policy_validation_failed', 'safety_unavailable', 'upstream_service_error'],
});

export interface AnalyticsBody {
  from: number;
  to: number;
  rule_filter: string;
}
export interface RuleAnalyticsView {
  rule_id: string;
  hit_count: number;
  approval_count: number;
  override_count: number;
  override_rate: number;
  avg_approval_latency_ms: number;
  daily_hits: number[];
}
export interface AnalyticsView {
  time_range: TimeRange;
  rules: RuleAnalyticsView[];
  summary: { total_rules: number; total_hits: number; total_overrides: number; highest_override_rule_id: string };
}

export const analysePolicy = endpoint({
  id: 'policy.analytics',
  method: 'post',
  path: '/api/v1/policy/analytics',
  summary: 'Decisions by rule, and how often held jobs were approved',
  access: { permission: 'policy.read', roles: ['admin'] },
  audit: 'none',
  params: {},
  body: shape<AnalyticsBody>({
    required: {
      from: time('Decisions from this time on.'),
      to: time('Decisions up to this time, at most 7 days later.'),
      rule_filter: text('Rule id, or a glob of them; empty: all.').max(limits.idChars).default(''),
    },
  }),
  answer: {
    status: 200,
    body: shape<AnalyticsView>({
      required: {
        time_range: timeRange,
        rules: Joi.array().items(
          shape<RuleAnalyticsView>({
            required: {
              rule_id: text('Rule id.'),
              hit_count: count('Jobs that the rule decided.'),
              approval_count: count('Jobs that the rule held for approval.'),
              override_count: count('Held jobs that were approved.'),
              override_rate: Joi.number().min(0).max(1).description('Fraction of held jobs that were approved.'),
              avg_approval_latency_ms: count('Average time from the decision to the approval, in ms.'),
              daily_hits: Joi.array().items(Joi.number().integer()).description('Hits per 24 hours, from the start.'),
            },
          }),
        ),
        summary: shape<AnalyticsView['summary']>({
          required: {
            total_rules: count('Number of rules with a decision.'),
            total_hits: count('Sum of hits.'),
            total_overrides: count('Sum of overrides.'),
            highest_override_rule_id: text('Rule with the highest override rate; empty when there were no overrides.'),
          },
        }),
      },
    }),
  },
  errors: [],
});

export const policyReplayEndpoints = [replayPolicy, analysePolicy] as const;
