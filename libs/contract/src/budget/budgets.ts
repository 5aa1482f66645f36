import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text, usd } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';

/** What one budget has come to within one day or month, UTC; amounts in US dollars. ADR 0011. */
export interface BudgetView {
  scope: string;
  id: string;
  period: string;
  period_name: string;
  ends_at: string;
  limit_usd: number;
  spent_usd: number;
  reserved_usd: number;
  remaining_usd: number | null;
  used_percent: number | null;
  action_at_limit: string;
  alert_at_percent: number[];
  alerted_percents: number[];
  by_cost_center: Record<string, number>;
}
export interface BudgetsView {
  items: BudgetView[];
  per_job_max_usd: number;
  per_workflow_max_usd: number;
}
export interface BudgetsQuery {
  team_id?: string;
  workflow_id?: string;
}

const percents = (description: string) => Joi.array().items(Joi.number()).description(description);
const id = (description: string) => text(description).max(limits.idChars);

const budgetView = shape<BudgetView>({
  required: {
    scope: Joi.string().valid('tenant', 'team', 'workflow'),
    id: text('Whose it is.'),
    period: Joi.string().valid('day', 'month'),
    period_name: text('Such as 2026-11-22 or 2026-11, UTC.'),
    ends_at: text('When the period is over.'),
    limit_usd: usd('The limit; 0 = none.'),
    spent_usd: usd('Spent by work that has ended.'),
    reserved_usd: usd('Reserved by work that has not.'),
    remaining_usd: usd('What is left; null without a limit.').allow(null),
    used_percent: count('Of the limit, spent and reserved; null without a limit.').allow(null),
    action_at_limit: Joi.string().valid('throttle', 'deny', 'alert'),
    alert_at_percent: percents('Parts of the limit that are told when they are reached.'),
    alerted_percents: percents('Those that were reached in this period.'),
    by_cost_center: Joi.object().pattern(Joi.string(), Joi.number()).description('Spent, by label cost_center.'),
  },
});

/** What work has cost, and may cost still. */
export const readBudgets = endpoint({
  id: 'budgets.read',
  method: 'get',
  path: '/api/v1/budgets',
  summary: 'What budgets have come to',
  description:
    'The budgets of the caller’s tenant, and of a team or workflow when one is named: as the section budget of their config documents sets them. Empty when none does.',
  access: { permission: 'governance.read', roles: ['admin', 'operator'] },
  params: {},
  query: shape<BudgetsQuery>({
    required: {},
    optional: { team_id: id('Team.'), workflow_id: id('Workflow.') },
  }),
  answer: {
    status: 200,
    body: shape<BudgetsView>({
      required: {
        items: Joi.array().items(budgetView),
        per_job_max_usd: usd('The most one job may be estimated to cost; 0 = any amount.'),
        per_workflow_max_usd: usd('The most the jobs of one run may cost together; 0 = any amount.'),
      },
    }),
  },
  errors: [],
});

export const budgetEndpoints = [readBudgets];
