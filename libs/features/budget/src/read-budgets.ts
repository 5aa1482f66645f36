import type { BudgetsQuery, BudgetsView, BudgetView, Caller } from '@svc/contract';
import { listAccounts, toUsd, type BudgetAccount } from '@svc/policy';
import type { Spending } from '@svc/store';
import { accountName, type BudgetDeps } from './reserve-budget';

/** Reads the budgets of a tenant, and of one of its teams or workflows: at most two round trips. ADR 0011. */
export async function readBudgets(deps: BudgetDeps, caller: Caller, query: BudgetsQuery): Promise<BudgetsView> {
  const { tenant } = caller;
  const scope = { tenant, team: query.team_id, workflow: query.workflow_id };
  const budgets = await deps.config.budgetsAt(scope);
  if (!budgets) return { items: [], per_job_max_usd: 0, per_workflow_max_usd: 0 };
  const accounts = listAccounts(budgets.layers, deps.clock.nowMs());
  const named = accounts.map((account) => ({ account: accountName(tenant, account), period: account.name }));
  const spending = await deps.store.spend.read(named);
  return {
    items: accounts.flatMap((account, i) => (spending[i] ? [toBudgetView(account, spending[i])] : [])),
    per_job_max_usd: toUsd(budgets.nearest.perJobMax),
    per_workflow_max_usd: toUsd(budgets.nearest.perRunMax),
  };
}

function toBudgetView(
  { scope, id, period, name, endsMs, limit, terms }: BudgetAccount,
  spending: Spending,
): BudgetView {
  const { spent, reserved, byCenter, alertedPercents } = spending;
  const used = spent + reserved;
  return {
    scope,
    id,
    period,
    period_name: name,
    ends_at: new Date(endsMs).toISOString(),
    limit_usd: toUsd(limit),
    spent_usd: toUsd(spent),
    reserved_usd: toUsd(reserved),
    remaining_usd: limit === 0 ? null : toUsd(Math.max(0, limit - used)),
    used_percent: limit === 0 ? null : Math.floor((used / limit) * 100),
    action_at_limit: terms.action,
    alert_at_percent: [...terms.alertAtPercent],
    alerted_percents: alertedPercents.sort((a, b) => a - b),
    by_cost_center: Object.fromEntries(Object.entries(byCenter).map(([center, micros]) => [center, toUsd(micros)])),
  };
}
