import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, moment, text } from '../fields';
import { shape } from '../shape';
import { governanceCursor, governanceLimit, governanceRead, nameFilter, sinceUntil } from './decisions';

/** See docs/reference/governance.md#approvals. */
export const approvalGroups = ['overall', 'rule', 'agent', 'topic', 'approver'] as const;
export type ApprovalGroup = (typeof approvalGroups)[number];
export const governanceWindows = ['24h', '7d', '30d'] as const;
export type GovernanceWindow = (typeof governanceWindows)[number];

export interface WindowQuery {
  window: GovernanceWindow;
  since?: number;
  until?: number;
}
export interface WindowView {
  since: string;
  until: string;
}
export const governanceWindow = Joi.string<GovernanceWindow>()
  .valid(...governanceWindows)
  .default('24h')
  .description('Period until now; ignored with since.');
export const windowTimes = {
  since: moment('From this time on, instead of window; at most 30 days. RFC 3339, or ms since the epoch.'),
  until: moment('Up to this time; default: now.'),
};
export const windowView = shape<WindowView>({
  required: { since: text('Start. RFC 3339.'), until: text('End. RFC 3339.') },
});
export const groupLimit = Joi.number().integer().min(1).max(50).default(10).description('Maximum number of groups.');
export const cut = Joi.boolean().description(
  'The period has more records than one query reads; only the newest count.',
);

export interface ApprovalAnalyticsQuery extends WindowQuery {
  group_by: ApprovalGroup;
  limit: number;
}
export interface ApprovalSummaryView {
  total: number;
  approved: number;
  rejected: number;
  expired: number;
  auto_resolved: number;
  manual_resolved: number;
  avg_time_to_approve_seconds: number | null;
  p50: number | null;
  p90: number | null;
  p99: number | null;
}
export interface ApprovalGroupView {
  key: string;
  label: string;
  total: number;
  approved: number;
  rejected: number;
  expired: number;
  auto_count: number;
  manual_count: number;
  avg_ttar_seconds: number | null;
  p90_seconds: number | null;
}
export interface ApprovalAnalyticsView {
  window: WindowView;
  summary: ApprovalSummaryView;
  truncated_at_max: boolean;
  groups?: ApprovalGroupView[];
}

const seconds = (description: string) =>
  Joi.number().min(0).allow(null).description(`${description} Seconds; null without samples.`);
const outcomes = {
  total: count('Resolved approvals.'),
  approved: count('Approved.'),
  rejected: count('Rejected.'),
  expired: count('Expired.'),
};

export const approvalAnalytics = endpoint({
  id: 'governance.approvalAnalytics',
  method: 'get',
  path: '/api/v1/governance/approvals/analytics',
  summary: 'How approvals were resolved, and how long it took',
  description: 'Approvals of the caller’s tenant that were resolved in the period. Results may be 30 s old.',
  access: governanceRead,
  params: {},
  query: shape<ApprovalAnalyticsQuery>({
    required: {
      group_by: Joi.string<ApprovalGroup>()
        .valid(...approvalGroups)
        .default('overall')
        .description('Groups to add to the summary.'),
      window: governanceWindow,
      limit: groupLimit,
    },
    optional: windowTimes,
  }),
  answer: {
    status: 200,
    body: shape<ApprovalAnalyticsView>({
      required: {
        window: windowView,
        summary: shape<ApprovalSummaryView>({
          required: {
            ...outcomes,
            auto_resolved: count('Resolved by the service: expired, or invalidated.'),
            manual_resolved: count('Resolved by a person.'),
            avg_time_to_approve_seconds: seconds('Average time from the hold to the resolution by a person.'),
            p50: seconds('Median of that time.'),
            p90: seconds('90th percentile.'),
            p99: seconds('99th percentile.'),
          },
        }),
        truncated_at_max: cut,
      },
      optional: {
        groups: Joi.array()
          .items(
            shape<ApprovalGroupView>({
              required: {
                key: text('Id of the rule, agent, topic or approver; empty = none.'),
                label: text('Name for people.'),
                ...outcomes,
                auto_count: count('Resolved by the service.'),
                manual_count: count('Resolved by a person.'),
                avg_ttar_seconds: seconds('Average time to the resolution by a person.'),
                p90_seconds: seconds('90th percentile of that time.'),
              },
            }),
          )
          .description('Slowest first; absent for group_by=overall.'),
      },
    }),
  },
  errors: [],
});

export const resolutionOutcomes = ['approved', 'rejected', 'expired', 'invalidated'] as const;
export type ResolutionOutcome = (typeof resolutionOutcomes)[number];
export interface ResolutionItem {
  job_id: string;
  topic: string;
  matched_rule: string;
  agent_id: string;
  outcome: ResolutionOutcome;
  resolved_by: string;
  resolved_role: string;
  reason: string;
  held_at: string;
  resolved_at: string;
  waited_seconds: number;
}
export interface ResolutionsQuery {
  limit: number;
  resolved_by?: string;
  rule_id?: string;
  agent_id?: string;
  topic?: string;
  outcome?: ResolutionOutcome;
  since?: number;
  until?: number;
  cursor?: string;
}
const outcome = Joi.string<ResolutionOutcome>().valid(...resolutionOutcomes);

export const listResolutions = endpoint({
  id: 'governance.resolutions',
  method: 'get',
  path: '/api/v1/governance/approvals/resolutions',
  summary: 'Who resolved which approval, newest first',
  access: { permission: 'governance.read', roles: ['admin', 'operator'] },
  params: {},
  query: shape<ResolutionsQuery>({
    required: { limit: governanceLimit },
    optional: {
      resolved_by: nameFilter('Only resolutions by this principal.'),
      rule_id: nameFilter('Only jobs that this rule held.'),
      agent_id: nameFilter('Only jobs of this agent.'),
      topic: nameFilter('Only jobs of this topic.'),
      outcome: outcome.description('Only this outcome.'),
      ...sinceUntil,
      cursor: governanceCursor,
    },
  }),
  answer: {
    status: 200,
    body: shape<{ items: ResolutionItem[]; next_cursor: string }>({
      required: {
        items: Joi.array().items(
          shape<ResolutionItem>({
            required: {
              job_id: text('Job of the approval.'),
              topic: text('Topic of the job.'),
              matched_rule: text('Rule that held the job.'),
              agent_id: text('Agent of the job; empty = none.'),
              outcome: outcome.description('How it was resolved.'),
              resolved_by: text('Principal; empty = the service.'),
              resolved_role: text('Role of that principal.'),
              reason: text('Reason of the resolution.'),
              held_at: text('Time at which the job was held. RFC 3339.'),
              resolved_at: text('Time of the resolution. RFC 3339.'),
              waited_seconds: Joi.number().min(0).description('Time between the two.'),
            },
          }),
        ),
        next_cursor: text('Cursor of the next page; empty at the end.'),
      },
    }),
  },
  errors: [],
});

export const approvalAnalyticsEndpoints = [approvalAnalytics, listResolutions] as const;
