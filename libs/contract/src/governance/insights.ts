import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text, usd } from '../fields';
import { shape } from '../shape';
import {
  cut,
  governanceWindow,
  groupLimit,
  type WindowQuery,
  windowTimes,
  type WindowView,
  windowView,
} from './approvals-analytics';

/** See docs/reference/governance.md#cost-and-risk. */
export const usageGroups = ['agent', 'team', 'topic'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageQuery extends WindowQuery {
  group_by: UsageGroup;
  limit: number;
}
export interface UsageFigures {
  jobs: number;
  succeeded: number;
  failed: number;
  denied: number;
  held: number;
  quarantined: number;
  cost_usd: number;
  risk_score: number | null;
}
export interface UsageGroupView extends UsageFigures {
  key: string;
}
export interface UsageView {
  window: WindowView;
  total: UsageFigures;
  groups: UsageGroupView[];
  truncated_at_max: boolean;
}

const figures = {
  jobs: count('Jobs submitted in the period.'),
  succeeded: count('Jobs that succeeded.'),
  failed: count('Jobs that failed or timed out.'),
  denied: count('Jobs that policy or an approver denied.'),
  held: count('Jobs that policy holds or held for approval.'),
  quarantined: count('Jobs with a withheld result.'),
  cost_usd: usd('Charged cost.'),
  risk_score: Joi.number()
    .min(0)
    .max(100)
    .allow(null)
    .description('Share of jobs with an adverse outcome, weighted: denied and quarantined 1, held 0.5, failed 0.25.'),
};

export const governanceUsage = endpoint({
  id: 'governance.usage',
  method: 'get',
  path: '/api/v1/governance/usage',
  summary: 'Cost and risk by agent, team or topic',
  description: 'Jobs of the caller’s tenant that are still stored. Results may be one minute old.',
  access: { permission: 'governance.read', roles: ['admin', 'operator'] },
  params: {},
  query: shape<UsageQuery>({
    required: {
      group_by: Joi.string<UsageGroup>()
        .valid(...usageGroups)
        .default('agent')
        .description('Grouping.'),
      window: governanceWindow,
      limit: groupLimit,
    },
    optional: windowTimes,
  }),
  answer: {
    status: 200,
    body: shape<UsageView>({
      required: {
        window: windowView,
        total: shape<UsageFigures>({ required: figures }),
        groups: Joi.array()
          .items(shape<UsageGroupView>({ required: { key: text('Agent, team or topic; empty = none.'), ...figures } }))
          .description('Highest cost first, then most jobs.'),
        truncated_at_max: cut,
      },
    }),
  },
  errors: [],
});

export interface UnmatchedRuleView {
  rule_id: string;
  decision: string;
  tier: string;
  fragment_id: string;
  last_matched_at: string | null;
}
export interface UncoveredTopicView {
  topic: string;
  registered: boolean;
  defaulted_at: string | null;
}
/** See docs/reference/governance.md#policy-coverage. */
export interface CoverageView {
  window: WindowView;
  rules: { total: number; matched: number; unmatched: UnmatchedRuleView[] };
  topics: { total: number; covered: number; uncovered: UncoveredTopicView[] };
}

export const policyCoverage = endpoint({
  id: 'governance.coverage',
  method: 'get',
  path: '/api/v1/governance/coverage',
  summary: 'Rules that decided about no job, and topics that no rule covers',
  description: 'About jobs of the caller’s tenant. Results may be one minute old.',
  access: { permission: 'governance.read', also: ['policy.read'], roles: ['admin'] },
  params: {},
  query: shape<WindowQuery>({ required: { window: governanceWindow }, optional: windowTimes }),
  answer: {
    status: 200,
    body: shape<CoverageView>({
      required: {
        window: windowView,
        rules: shape<CoverageView['rules']>({
          required: {
            total: count('Rules in effect.'),
            matched: count('Rules that decided about a job in the period.'),
            unmatched: Joi.array().items(
              shape<UnmatchedRuleView>({
                required: {
                  rule_id: text('Rule id.'),
                  decision: text('Decision of the rule.'),
                  tier: text('global, workflow or job.'),
                  fragment_id: text('Bundle of the rule; `base` for the policy file.'),
                  last_matched_at: Joi.string()
                    .allow(null)
                    .description('Last decision before the period, if it is known. RFC 3339.'),
                },
              }),
            ),
          },
        }),
        topics: shape<CoverageView['topics']>({
          required: {
            total: count('Registered topics.'),
            covered: count('Registered topics that match a rule.'),
            uncovered: Joi.array()
              .items(
                shape<UncoveredTopicView>({
                  required: {
                    topic: text('Topic.'),
                    registered: Joi.boolean().description('Whether the topic is registered.'),
                    defaulted_at: Joi.string()
                      .allow(null)
                      .description('Last job of the period that no rule decided. RFC 3339.'),
                  },
                }),
              )
              .description('Registered topics without a rule, and topics with jobs that no rule decided.'),
          },
        }),
      },
    }),
  },
  errors: [],
});

export const insightEndpoints = [governanceUsage, policyCoverage] as const;
