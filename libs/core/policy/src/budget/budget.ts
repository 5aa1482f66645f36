/** Action for work that would exceed a limit. */
export const budgetActions = ['throttle', 'deny', 'alert'] as const;
export type BudgetAction = (typeof budgetActions)[number];

/** Money is counted in whole millionths of a US dollar, so that sums are exact. */
export const microsPerUsd = 1_000_000;

/** Rounded up, so that no positive cost counts as zero. */
export const toMicros = (usd: number): number => Math.ceil(Number((usd * microsPerUsd).toFixed(3)));
export const toUsd = (micros: number): number => micros / microsPerUsd;

/** A `budget` section with defaults filled in; limits in micros, 0 = unlimited. */
export interface BudgetTerms {
  dailyLimit: number;
  monthlyLimit: number;
  perJobMax: number;
  perRunMax: number;
  /** Ascending; always includes the limit itself. */
  alertAtPercent: readonly number[];
  action: BudgetAction;
  /** Costs are counted by the label `cost_center`. */
  isAttributed: boolean;
  /** When set, other names count as unattributed. */
  costCenters: readonly string[];
}

const standard = {
  daily_limit_usd: 1_000,
  monthly_limit_usd: 10_000,
  per_job_max_usd: 5,
  per_workflow_max_usd: 50,
  alert_at_percent: [50, 75, 90, 100],
  action_at_limit: 'throttle',
  cost_attribution_enabled: true,
  cost_centers: [],
} as const;

/** Values of the wrong type, as a document not written by the API may contain, count as omitted. */
export function budgetTerms(section: Readonly<Record<string, unknown>>): BudgetTerms {
  const amount = (key: 'daily_limit_usd' | 'monthly_limit_usd' | 'per_job_max_usd' | 'per_workflow_max_usd') =>
    toMicros(numeric(section[key]) ?? standard[key]);
  const percents = readList(section['alert_at_percent'], numeric) ?? standard.alert_at_percent;
  const action = budgetActions.find((one) => one === section['action_at_limit']) ?? standard.action_at_limit;
  return {
    dailyLimit: amount('daily_limit_usd'),
    monthlyLimit: amount('monthly_limit_usd'),
    perJobMax: amount('per_job_max_usd'),
    perRunMax: amount('per_workflow_max_usd'),
    alertAtPercent: [...new Set([...percents, 100])].filter((percent) => percent > 0).sort((a, b) => a - b),
    action,
    isAttributed: section['cost_attribution_enabled'] !== false,
    costCenters: readList(section['cost_centers'], (one) => (typeof one === 'string' ? one : undefined)) ?? [],
  };
}

const numeric = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

const readList = <T>(value: unknown, read: (one: unknown) => T | undefined): T[] | undefined =>
  Array.isArray(value) ? value.map(read).filter((one) => one !== undefined) : undefined;

/** Layers whose spending is summed: a whole tenant, a team, or the runs of a workflow. */
export type BudgetScope = 'tenant' | 'team' | 'workflow';

/**
 * Whether one job exceeds the limit per job, which waiting cannot change: `alert` = it does, and runs anyway.
 *
 * @param estimate micros
 */
export function checkJobSize({ perJobMax, action }: BudgetTerms, estimate: number): 'fits' | 'alert' | 'too_large' {
  if (perJobMax === 0 || estimate <= perJobMax) return 'fits';
  return action === 'alert' ? 'alert' : 'too_large';
}

/** A budget set for one of the layers of a job. */
export interface BudgetLayer {
  scope: BudgetScope;
  /** Tenant, team or workflow id. */
  id: string;
  terms: BudgetTerms;
}

/** All budgets that a job must fit into. */
export interface Budgets {
  layers: readonly BudgetLayer[];
  /**
   * From the narrowest document that has a budget; a smaller limit per job or per run in a wider document wins, since the
   * submitter chooses the team.
   */
  nearest: BudgetTerms;
}

/** A config document in the layers of a job, broadest first. */
export interface BudgetSource {
  scope: string;
  scope_id: string;
  data: Readonly<Record<string, unknown>>;
}

/**
 * The budgets of a job. A tenant's own replaces the installation's; team and workflow budgets apply in addition, so a
 * narrower document adds a limit and never removes a wider one. Undefined when no document has one.
 */
export function collectBudgets(tenant: string, documents: readonly BudgetSource[]): Budgets | undefined {
  const layers = new Map<BudgetScope, BudgetLayer>();
  let sections: Record<string, unknown>[] = [];
  for (const { scope, scope_id: id, data } of documents) {
    const section = data['budget'];
    if (section === null || typeof section !== 'object' || Array.isArray(section)) continue;
    const own = section as Record<string, unknown>;
    const terms = budgetTerms(own);
    const isTenants = scope === 'system' || scope === 'org';
    sections = isTenants ? [own] : [...sections, own];
    if (isTenants) layers.set('tenant', { scope: 'tenant', id: tenant, terms });
    else if (scope === 'team' || scope === 'workflow') layers.set(scope, { scope, id, terms });
  }
  const narrowest = sections.pop();
  return narrowest && { layers: [...layers.values()], nearest: sections.reduce(tighten, budgetTerms(narrowest)) };
}

/** Limits per job and per run from a wider section, where they are stricter; its defaults do not apply. */
function tighten(terms: BudgetTerms, wider: Record<string, unknown>): BudgetTerms {
  const set = (name: string) => wider[name] !== undefined && wider[name] !== null;
  const { perJobMax, perRunMax, action } = budgetTerms(wider);
  const restricts = set('per_job_max_usd') || set('per_workflow_max_usd') || set('action_at_limit');
  return {
    ...terms,
    ...(set('per_job_max_usd') && { perJobMax: smallerLimit(terms.perJobMax, perJobMax) }),
    ...(set('per_workflow_max_usd') && { perRunMax: smallerLimit(terms.perRunMax, perRunMax) }),
    ...(restricts && { action: strictestFirst.find((one) => one === terms.action || one === action) ?? action }),
  };
}

const strictestFirst: readonly BudgetAction[] = ['deny', 'throttle', 'alert'];

/** 0 means unlimited. */
const smallerLimit = (one: number, other: number): number =>
  one > 0 && other > 0 ? Math.min(one, other) : Math.max(one, other);

export type BudgetPeriod = 'day' | 'month';

/** Spending of one layer in one period, as counted by the store. */
export interface BudgetAccount {
  scope: BudgetScope;
  id: string;
  period: BudgetPeriod;
  /** `2026-11-22` or `2026-11`, UTC. */
  name: string;
  /** Micros; 0 = unlimited. */
  limit: number;
  terms: BudgetTerms;
  /** End of the period, unix ms. */
  endsMs: number;
}

/** The current accounts of a job, by day and by month. */
export const listAccounts = (layers: readonly BudgetLayer[], nowMs: number): BudgetAccount[] =>
  layers.flatMap(({ scope, id, terms }) => [
    { scope, id, terms, ...periodAt('day', nowMs), limit: terms.dailyLimit },
    { scope, id, terms, ...periodAt('month', nowMs), limit: terms.monthlyLimit },
  ]);

function periodAt(period: BudgetPeriod, nowMs: number): Pick<BudgetAccount, 'period' | 'name' | 'endsMs'> {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const text = now.toISOString();
  return period === 'day'
    ? { period, name: text.slice(0, 10), endsMs: Date.UTC(year, month, day + 1) }
    : { period, name: text.slice(0, 7), endsMs: Date.UTC(year, month + 1, 1) };
}

const centerChars = 128;

/** The cost centre that a job is attributed to; undefined when costs are not attributed. */
export function getCostCenter(terms: BudgetTerms, labels: Readonly<Record<string, string>>): string | undefined {
  if (!terms.isAttributed) return undefined;
  const named = labels['cost_center'] ?? '';
  const isKnown =
    named !== '' &&
    named.length <= centerChars &&
    (terms.costCenters.length === 0 || terms.costCenters.includes(named));
  return isKnown ? named : 'unattributed';
}

/** Format of `estimated_cost`; the store's JSON is exact to 14 digits. */
const maxEstimatedUsd = 1_000_000;

/**
 * Estimated cost of a job in micros: the submitted estimate, or the label `estimated_cost` of a job from the bus or of a
 * step. 0 = no estimate.
 */
export function getEstimate(request: { estimated_cost?: number; labels: Readonly<Record<string, string>> }): number {
  const usd = request.estimated_cost ?? Number(request.labels['estimated_cost'] ?? 0);
  return Number.isFinite(usd) && usd > 0 ? toMicros(Math.min(usd, maxEstimatedUsd)) : 0;
}
