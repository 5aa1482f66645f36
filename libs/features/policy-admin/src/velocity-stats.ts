import {
  everyTenant,
  type Caller,
  type VelocityRuleView,
  type VelocityStat,
  type VelocityStatsView,
} from '@svc/contract';
import { parseDuration } from '@svc/runtime';
import type { Store, VelocityWindow } from '@svc/store';
import { formatTime } from './bundle-content';
import type { PolicyReadDeps } from './policy-deps';
import { listVelocityRules, type VelocityDeps } from './velocity-list';

export type VelocityStatsDeps = PolicyReadDeps & VelocityDeps & { store: Pick<Store, 'velocity' | 'index'> };

const hourMs = 3_600_000;
const hours = 24;
/** The same number of jobs as rule analytics read. See docs/reference/policy.md#replay. */
const MAX_JOBS = 1_000;
const topRules = 10;

interface Hit {
  ruleId: string;
  atMs: number;
  count: number;
}

/**
 * Decisions of each velocity rule about submissions in the last 24 hours, and the fill of its windows. Counts cover the
 * caller's tenant, or every tenant for a caller who acts for all. See docs/reference/policy.md#velocity.
 *
 * @throws tier_limit_exceeded
 */
export async function velocityStats(deps: VelocityStatsDeps, caller: Caller): Promise<VelocityStatsView> {
  const { items: rules, errors = [] } = await listVelocityRules(deps);
  const nowMs = deps.clock.nowMs();
  const lengths = new Map(rules.map(({ id, window }) => [id, parseDuration(window) ?? 0]));
  const whose = caller.scope === everyTenant ? everyTenant : caller.tenant;
  const [decided, throttled, { windows, isWhole }] = await Promise.all([
    decidedJobs(deps, caller, nowMs),
    deps.store.velocity.throttled(whose, nowMs - hours * hourMs, nowMs),
    deps.store.velocity.windows(lengths, nowMs),
  ]);
  const own = await ownWindows(deps, caller, windows);
  const hits = [...decided, ...throttled];
  const items = rules.map((rule) => buildStat(rule, { hits, windows: own, nowMs }));
  const partly = {
    fragment_id: 'windows',
    error: 'too many windows: only the most recently counted were included',
  };
  const allErrors = [...errors, ...(isWhole ? [] : [partly])];
  return {
    items,
    top_rules: [...items].sort((a, b) => b.hit_count_24h - a.hit_count_24h).slice(0, topRules),
    generated_at: formatTime(nowMs),
    ...(allErrors.length > 0 && { errors: allErrors }),
  };
}

/** The deciding rule and time for the newest jobs of the last 24 hours. */
async function decidedJobs({ store }: VelocityStatsDeps, caller: Caller, nowMs: number): Promise<Hit[]> {
  const tenants = caller.scope === everyTenant ? await store.index.tenants() : [caller.tenant];
  const share = Math.max(1, Math.floor(MAX_JOBS / Math.max(1, tenants.length)));
  const afterUs = (nowMs - hours * hourMs) * 1_000;
  const pages = await Promise.all(tenants.map((tenant) => store.index.page(tenant, { afterUs }, share)));
  const jobs = await store.index.records(pages.flatMap(({ items }) => items.map(({ id }) => id)));
  return jobs.flatMap(({ safety }) => {
    const isHit = safety?.rule_id !== undefined && safety.checked_at >= afterUs;
    return isHit ? [{ ruleId: safety.rule_id ?? '', atMs: Math.floor(safety.checked_at / 1_000), count: 1 }] : [];
  });
}

/** Windows are named by a hash; the last job counted in one identifies its tenant. */
async function ownWindows(
  { store }: VelocityStatsDeps,
  caller: Caller,
  windows: readonly VelocityWindow[],
): Promise<readonly VelocityWindow[]> {
  if (caller.scope === everyTenant) return windows;
  const jobs = await store.index.records(windows.map(({ newestJob }) => newestJob));
  const own = new Set(jobs.filter(({ tenant }) => tenant === caller.tenant).map(({ id }) => id));
  return windows.filter(({ newestJob }) => own.has(newestJob));
}

interface Facts {
  hits: readonly Hit[];
  windows: readonly VelocityWindow[];
  nowMs: number;
}

function buildStat({ id, threshold }: VelocityRuleView, { hits, windows, nowMs }: Facts): VelocityStat {
  const own = hits.filter(({ ruleId }) => ruleId === id);
  const lastMs = own.reduce((last, { atMs }) => Math.max(last, atMs), 0);
  const total = sumCounts(own);
  const counts = windows.filter(({ ruleId }) => ruleId === id).map(({ count }) => count);
  const hourly = Array.from({ length: hours }, (_, i) => {
    const endMs = nowMs - (hours - 1 - i) * hourMs;
    return sumCounts(own.filter(({ atMs }) => atMs > endMs - hourMs && atMs <= endMs));
  });
  return {
    id,
    hit_count_24h: total,
    hit_rate_24h: total / hours,
    current_window_count: counts.reduce((sum, count) => sum + count, 0),
    current_window_max: Math.max(0, ...counts),
    active_buckets: counts.length,
    exceeded_buckets: counts.filter((count) => count > threshold).length,
    last_triggered: lastMs > 0 ? formatTime(lastMs) : null,
    hourly_hits: hourly,
  };
}

const sumCounts = (hits: readonly Hit[]): number => hits.reduce((sum, { count }) => sum + count, 0);
