import { AppError } from '@svc/contract';
import {
  listAccounts,
  getCostCenter,
  getEstimate,
  checkJobSize,
  toUsd,
  type BudgetAccount,
  type BudgetAction,
  type Budgets,
} from '@svc/policy';
import type { JobRecord, OverBudget, ReserveOutcome, SpendAccount, Store, StoredRequest } from '@svc/store';
import type { Clock } from '@svc/platform';
import type { EffectiveConfig } from '@svc/settings';
import { toConfigScope } from '@svc/decision';

/** Why a job may not go to a worker now. */
export interface BudgetRefusal {
  action: 'throttle' | 'deny';
  over: OverBudget;
}

export interface BudgetDeps {
  store: Pick<Store, 'spend'>;
  config: Pick<EffectiveConfig, 'budgetsAt'>;
  clock: Clock;
}

export interface ReserveDeps extends BudgetDeps {
  events: { overBudget(topic: string, action: BudgetAction, limit: string): void };
}

const daySec = 86_400;
const keptSec = { day: 40 * daySec, month: 400 * daySec };

/** The name under which the store counts what an account spends. */
export const accountName = (tenant: string, { scope, id }: Pick<BudgetAccount, 'scope' | 'id'>): string =>
  scope === 'tenant' ? `tenant:${tenant}` : `${scope}:${tenant}:${id}`;

/**
 * Reserves what an allowed job may cost in every budget it counts in, before it goes to a worker. A job whose documents set
 * no budget costs nothing here. Reserved once, however often it is asked for; the move that ends the job settles it.
 * See docs/reference/config.md#budgets.
 *
 * @returns why it may not, or undefined when it may
 */
export async function reserveBudget(deps: ReserveDeps, job: JobRecord): Promise<BudgetRefusal | undefined> {
  if (job.reserved) return undefined;
  const budgets = await deps.config.budgetsAt(toConfigScope(job));
  if (!budgets) return undefined;
  const estimate = getEstimate(job.request);
  const { perJobMax: amount } = budgets.nearest;
  const size = checkJobSize(budgets.nearest, estimate);
  if (size === 'too_large') {
    const over = { limit: 'per_job_max_usd', of: `job ${job.id}`, amount, spent: 0, reserved: 0 } as const;
    return { action: 'deny', over };
  }
  if (size === 'alert') deps.events.overBudget(job.topic, 'alert', 'per_job_max_usd');
  const accounts = listAccounts(budgets.layers, deps.clock.nowMs());
  const outcome = await deps.store.spend.reserve(job.id, {
    micros: estimate,
    accounts: accounts.map((account) => storedAccount(job, account)),
    run: { limit: budgets.nearest.perRunMax, action: budgets.nearest.action },
  });
  return outcome.kind === 'over' ? refusalOf(outcome, accounts) : undefined;
}

/** @throws budget_exceeded when a job is estimated to cost more than any may */
export function checkJobBudget(budgets: Budgets | undefined, request: StoredRequest): void {
  const estimate = getEstimate(request);
  if (!budgets || checkJobSize(budgets.nearest, estimate) !== 'too_large') return;
  const { perJobMax } = budgets.nearest;
  throw new AppError('budget_exceeded', {
    limit: 'per_job_max_usd',
    limit_usd: toUsd(perJobMax),
    estimated_usd: toUsd(estimate),
  });
}

function storedAccount(job: JobRecord, account: BudgetAccount): SpendAccount {
  const { period, name, limit, terms } = account;
  const center = getCostCenter(terms, job.request.labels);
  return {
    account: accountName(job.tenant, account),
    period: name,
    limit,
    action: terms.action,
    alerts: terms.alertAtPercent,
    ...(center !== undefined && { center }),
    ttlSec: keptSec[period],
  };
}

function refusalOf(
  { action, of, limit: amount, spent, reserved }: Extract<ReserveOutcome, { kind: 'over' }>,
  accounts: readonly BudgetAccount[],
): BudgetRefusal {
  const amounts = { amount, spent, reserved };
  if ('run' in of) return { action, over: { limit: 'per_workflow_max_usd', of: `run ${of.run}`, ...amounts } };
  const account = accounts[of.account];
  if (!account) throw new Error('the store names an account that it was not asked about');
  const limit = account.period === 'day' ? 'daily_limit_usd' : 'monthly_limit_usd';
  return { action, over: { limit, of: `${account.scope} ${account.id}`, ...amounts, ends_ms: account.endsMs } };
}

/** The message that clients see. */
export function budgetMessage({ limit, of, amount, spent, reserved }: OverBudget): string {
  if (limit === 'per_job_max_usd') return `it is estimated to cost more than ${limit}, ${money(amount)}`;
  const part = `${money(spent)} spent and ${money(reserved)} reserved`;
  return `budget.${limit} of ${of} is ${money(amount)}: ${part}, so that it does not fit`;
}

const money = (micros: number): string => `$${toUsd(micros)}`;

const soonMs = 5_000;
const seldomMs = 60_000;

/** Whether work under way may cost less than it reserved and so make room; else only a new period or a raised limit does. */
export const mayGiveBack = ({ amount, spent, reserved }: OverBudget): boolean => reserved > 0 && spent < amount;

/** Delay until a job that waits for its budget is checked again, ms. */
export function budgetWaitMs(over: OverBudget, nowMs: number): number {
  return mayGiveBack(over) ? soonMs : Math.max(1, Math.min(seldomMs, (over.ends_ms ?? Infinity) - nowMs));
}
