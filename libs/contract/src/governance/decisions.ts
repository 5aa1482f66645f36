import Joi from 'joi';
import { endpoint } from '../endpoint';
import { moment, text } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';

/** Spelling of decisions in the decision log and its filters. See docs/reference/governance.md#decisions. */
export const decisionVerdicts = ['allow', 'deny', 'constrain', 'require_approval', 'throttle'] as const;
export type DecisionVerdict = (typeof decisionVerdicts)[number];
export const decisionVerdict = (description: string): Joi.Schema<DecisionVerdict> =>
  Joi.string<DecisionVerdict>()
    .valid(...decisionVerdicts)
    .description(description);

export const governanceRead = { permission: 'governance.read', roles: 'any' } as const;
export const nameFilter = (description: string) => Joi.string().min(1).max(limits.idChars).description(description);
export const governanceCursor = Joi.string()
  .pattern(/^\d{1,15}-\d{1,15}$/)
  .messages({ 'string.pattern.base': '{{#label}} must be the next_cursor of the page before' })
  .description('next_cursor of the page before.');
export const governanceLimit = Joi.number().integer().min(1).max(500).default(50).description('Page size.');
export const sinceUntil = {
  since: moment('From this time on; default: 24 hours ago. RFC 3339, or ms since the epoch.'),
  until: moment('Up to this time; default: now.'),
};

export interface DecisionItem {
  job_id: string;
  topic: string;
  matched_rule: string;
  verdict: DecisionVerdict;
  reason: string;
  constraints: Record<string, unknown> | null;
  approval_status: string;
  approval_decision: string;
  agent_id: string;
  policy_version: string;
  timestamp: string;
}
export interface DecisionsQuery {
  limit: number;
  topic?: string;
  rule_id?: string;
  agent_id?: string;
  verdict?: DecisionVerdict;
  since?: number;
  until?: number;
  cursor?: string;
}

export const listDecisions = endpoint({
  id: 'governance.decisions',
  method: 'get',
  path: '/api/v1/governance/decisions',
  summary: 'Policy decisions about jobs of the caller’s tenant, newest first',
  description: 'A page may have fewer items than its limit while there are more: continue until next_cursor is empty.',
  access: governanceRead,
  params: {},
  query: shape<DecisionsQuery>({
    required: { limit: governanceLimit },
    optional: {
      topic: nameFilter('Only jobs of this topic.'),
      rule_id: nameFilter('Only decisions of this rule.'),
      agent_id: nameFilter('Only jobs of this agent.'),
      verdict: decisionVerdict('Only this decision.'),
      ...sinceUntil,
      cursor: governanceCursor,
    },
  }),
  answer: {
    status: 200,
    body: shape<{ items: DecisionItem[]; next_cursor: string }>({
      required: {
        items: Joi.array().items(
          shape<DecisionItem>({
            required: {
              job_id: text('Job of the decision.'),
              topic: text('Topic of the job.'),
              matched_rule: text('Rule of the decision; empty for the default.'),
              verdict: decisionVerdict('The decision.'),
              reason: text('Reason of the decision.'),
              constraints: Joi.object().unknown().allow(null).description('Constraints; null without any.'),
              approval_status: text('Status of the approval now; empty without one.'),
              approval_decision: text('How the approval was resolved; empty while it is pending.'),
              agent_id: text('Agent of the job; empty = none.'),
              policy_version: text('Policy snapshot of the decision.'),
              timestamp: text('Time of the decision. RFC 3339.'),
            },
          }),
        ),
        next_cursor: text('Cursor of the next page; empty at the end.'),
      },
    }),
  },
  errors: [],
});

export const decisionEndpoints = [listDecisions] as const;
