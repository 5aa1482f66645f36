import {
  AppError,
  type Caller,
  type DenialRaw,
  everyTenant,
  type GovernanceHealthView,
  type LatencyRaw,
} from '@svc/contract';
import { percentile, waitsOfPeople } from './approval-figures';
import type { GovernanceDeps } from './governance-deps';
import { scoreHealth } from './health-score';
import { countCoverage } from './policy-coverage';
import { scanLog } from './scan-log';
import { dayMs, type TimeWindow } from './time-window';

const keepMs = 60_000;

/**
 * The health of the governance of a tenant in the last 24 hours, cached for 60 s.
 * See docs/reference/governance.md#health.
 *
 * @param wanted default: the caller's tenant
 * @throws tenant_access_denied
 */
export async function governanceHealth(
  deps: GovernanceDeps,
  caller: Caller,
  wanted?: string,
): Promise<GovernanceHealthView> {
  const tenant = wanted || caller.tenant;
  if (tenant !== caller.tenant && caller.scope !== everyTenant) throw new AppError('tenant_access_denied');
  // Bundles are shown to a caller, so a health that another caller may see counts only what its tenant sees.
  const reader = { ...caller, tenant, scope: tenant };
  return deps.cache.read(['health', tenant], keepMs, async () => {
    const nowMs = deps.clock.nowMs();
    const window = { fromMs: nowMs - dayMs, toMs: nowMs };
    const [denials, latency, coverage, chain] = await Promise.all([
      countDenials(deps, tenant, window),
      measureLatency(deps, tenant, window),
      countCoverage(deps, reader),
      deps.chainState(tenant),
    ]);
    return {
      ...scoreHealth({ denials, latency, coverage, chain }),
      generated_at: new Date(nowMs).toISOString(),
      ...((denials.truncated || latency.truncated) && { truncated_at_max: true }),
    };
  }).result;
}

async function countDenials({ decisionLog }: GovernanceDeps, tenant: string, window: TimeWindow): Promise<DenialRaw> {
  const { entries, isCut } = await scanLog(decisionLog.decisions.bind(decisionLog, tenant), window);
  const raw = { allow: 0, deny: 0, require_approval: 0, other: 0, truncated: isCut, scanned_events: entries.length };
  for (const { verdict } of entries)
    raw[verdict === 'constrain' ? 'allow' : verdict === 'throttle' ? 'other' : verdict] += 1;
  return raw;
}

async function measureLatency(
  { decisionLog }: GovernanceDeps,
  tenant: string,
  window: TimeWindow,
): Promise<LatencyRaw> {
  const { entries, isCut } = await scanLog(decisionLog.resolutions.bind(decisionLog, tenant), window);
  const waits = waitsOfPeople(entries);
  const p95 = percentile(waits, 95);
  return { p95_ms: p95 === null ? null : Math.round(p95 * 1_000), samples: waits.length, truncated: isCut };
}
