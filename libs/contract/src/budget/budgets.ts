import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, text, usd } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';

/** Usage of one budget within one day or month, UTC; amounts in US dollars. See ADR 0011. */
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
    id: text('Id of the tenant, team or workflow.'),
    period: Joi.string().valid('day', 'month'),
    period_name: text('The day or month (UTC), such as 2026-11-22 or 2026-11.'),
    ends_at: text('End of the period.'),
    limit_usd: usd('The limit; 0 = none.'),
    spent_usd: usd('Spent by work that has ended.'),
    reserved_usd: usd('Reserved by work that has not ended.'),
    remaining_usd: usd('Remaining amount; null without a limit.').allow(null),
    used_percent: count('Spent and reserved, as a percentage of the limit; null without a limit.').allow(null),
    action_at_limit: Joi.string().valid('throttle', 'deny', 'alert'),
    alert_at_percent: percents('Percentages of the limit that raise an alert when reached.'),
    alerted_percents: percents('Percentages reached in this period.'),
    by_cost_center: Joi.object()
      .pattern(Joi.string(), Joi.number())
      .description('Amount spent, by the label cost_center.'),
  },
});

/** Spent, reserved and remaining amounts. */
export const readBudgets = endpoint({
  id: 'budgets.read',
  method: 'get',
  path: '/api/v1/budgets',
  summary: 'Budget usage',
  description:
    'Budgets of the caller’s tenant, and of the team or workflow if given, from the section budget of their config documents. Empty when no document has that section.',
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
        per_job_max_usd: usd('Maximum estimated cost of one job; 0 = no limit.'),
        per_workflow_max_usd: usd('Maximum cost of all jobs of one run; 0 = no limit.'),
      },
    }),
  },
  errors: [],
});

export const budgetEndpoints = [readBudgets];
