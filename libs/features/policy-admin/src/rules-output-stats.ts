import type { Caller, OutputStatsView } from '@svc/contract';
import type { OutputSafetyRecord, Store } from '@svc/store';
import type { Clock } from '@svc/platform';
import { formatTime } from './bundle-content';

export interface OutputReadDeps {
  store: Pick<Store, 'index'>;
  clock: Clock;
}

const dayUs = 86_400_000_000;
const MAX_READ = 500;
/** States of jobs whose result was checked. */
const checkedStates = ['SUCCEEDED', 'OUTPUT_QUARANTINED'] as const;

/** Findings of a tenant's output checks in the last 24 hours, limited to the newest jobs. */
export async function checkedOutputs(
  { store, clock }: OutputReadDeps,
  tenant: string,
  limit = MAX_READ,
): Promise<OutputSafetyRecord[]> {
  const afterUs = clock.nowUs() - dayUs;
  const { items } = await store.index.page(tenant, { states: checkedStates, afterUs }, limit);
  const jobs = await store.index.records(items.map(({ id }) => id));
  return jobs.flatMap(({ output_safety }) =>
    output_safety && output_safety.checked_at >= afterUs ? [output_safety] : [],
  );
}

/** See docs/reference/policy.md#output-rules-and-rules-lists. */
export async function outputStats(
  deps: OutputReadDeps,
  { tenant }: Caller,
  { limit }: { limit: number },
): Promise<OutputStatsView> {
  const checked = await checkedOutputs(deps, tenant, limit);
  const totalMs = checked.reduce((sum, { check_duration_ms }) => sum + check_duration_ms, 0);
  return {
    total_checks_24h: checked.length,
    quarantined_24h: checked.filter(({ decision }) => decision === 'QUARANTINE').length,
    avg_latency_ms: checked.length === 0 ? 0 : totalMs / checked.length,
    last_check_at: checked.length === 0 ? null : textOfMicros(Math.max(...checked.map(({ checked_at }) => checked_at))),
  };
}

/** Formats a record's time. */
export const textOfMicros = (us: number): string => formatTime(Math.floor(us / 1_000));
