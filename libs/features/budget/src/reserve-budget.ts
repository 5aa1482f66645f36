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
import type {
  JobRecord,
  OverBudget,
  Reservation,
  ReserveOutcome,
  SpendAccount,
  Store,
  StoredRequest,
} from '@svc/store';
import type { Clock } from '@svc/platform';
import type { EffectiveConfig } from '@svc/settings';
import { toConfigScope } from '@svc/decision';

/** Reason a job cannot be dispatched within its budget. */
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
const retentionSec = { day: 40 * daySec, month: 400 * daySec };

/** Name of an account in the store. */
export const accountName = (tenant: string, { scope, id }: Pick<BudgetAccount, 'scope' | 'id'>): string =>
  scope === 'tenant' ? `tenant:${tenant}` : `${scope}:${tenant}:${id}`;

/**
 * Reserves the estimated cost of an allowed job in each of its budgets before dispatch. Without a budget in its config this is
 * a no-op. Idempotent; the transition that ends the job settles the reservation.
 * See docs/reference/config.md#budgets.
 *
 * @returns the refusal, or undefined when the job may be dispatched
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
  const outcome = await deps.store.spend.reserve(job.id, toReservation(job, budgets, accounts));
  return outcome.kind === 'over' ? toRefusal(outcome, accounts) : undefined;
}

/** What the call that accepts a new job does about its budgets. */
export type NewJobBudget =
  { kind: 'none' } | { kind: 'reserve'; reservation: Reservation } | { kind: 'left_to_scheduler' };

/**
 * The reservation for the call that accepts and places a new job. A job whose estimate is over the maximum per job is left to
 * the scheduler, which denies or reports it.
 */
export async function planReservation(
  { config, clock }: Pick<BudgetDeps, 'config' | 'clock'>,
  job: JobRecord,
): Promise<NewJobBudget> {
  const budgets = await config.budgetsAt(toConfigScope(job));
  if (!budgets) return { kind: 'none' };
  if (checkJobSize(budgets.nearest, getEstimate(job.request)) !== 'fits') return { kind: 'left_to_scheduler' };
  const accounts = listAccounts(budgets.layers, clock.nowMs());
  return { kind: 'reserve', reservation: toReservation(job, budgets, accounts) };
}

const toReservation = (job: JobRecord, { nearest }: Budgets, accounts: readonly BudgetAccount[]): Reservation => ({
  micros: getEstimate(job.request),
  accounts: accounts.map((account) => toSpendAccount(job, account)),
  run: { limit: nearest.perRunMax, action: nearest.action },
});

/** @throws budget_exceeded when the estimated cost exceeds the maximum per job */
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

function toSpendAccount(job: JobRecord, account: BudgetAccount): SpendAccount {
  const { period, name, limit, terms } = account;
  const center = getCostCenter(terms, job.request.labels);
  return {
    account: accountName(job.tenant, account),
    period: name,
    limit,
    action: terms.action,
    alerts: terms.alertAtPercent,
    ...(center !== undefined && { center }),
    ttlSec: retentionSec[period],
  };
}

function toRefusal(
  { action, of, limit: amount, spent, reserved }: Extract<ReserveOutcome, { kind: 'over' }>,
  accounts: readonly BudgetAccount[],
): BudgetRefusal {
  const amounts = { amount, spent, reserved };
  if ('run' in of) return { action, over: { limit: 'per_workflow_max_usd', of: `run ${of.run}`, ...amounts } };
  const account = accounts[of.account];
  if (!account) throw new Error('the store returned an unknown account');
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

const shortWaitMs = 5_000;
const longWaitMs = 60_000;

/** Whether running work may cost less than it reserved and so free budget; otherwise only a new period or a higher limit does. */
export const mayFreeBudget = ({ amount, spent, reserved }: OverBudget): boolean => reserved > 0 && spent < amount;

/** Delay until a job that waits for its budget is checked again, ms. */
export function budgetWaitMs(over: OverBudget, nowMs: number): number {
  return mayFreeBudget(over) ? shortWaitMs : Math.max(1, Math.min(longWaitMs, (over.ends_ms ?? Infinity) - nowMs));
}
