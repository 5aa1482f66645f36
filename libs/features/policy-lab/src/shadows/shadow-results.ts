import {
  AppError,
  type Caller,
  type ShadowComparison,
  type ShadowComparisonsQuery,
  type ShadowComparisonsView,
  type ShadowSummaryView,
  type ShadowTimeseriesQuery,
  type ShadowTimeseriesView,
  type ShadowWindow,
} from '@svc/contract';
import type { Store, StoredShadowHead, StoredShadowResult } from '@svc/store';
import {
  alignedDown,
  bucketFault,
  encodeCursor,
  decodeCursor,
  buildTimeseries,
  sumCounts,
  windowFault,
} from './shadow-maths';
import { type BundleOfTenant, hasMore, MAX_SCANNED, pageSize, scanned } from './shadow-scan';
import type { ShadowSummaries } from './shadow-summaries';

export interface ShadowResultDeps {
  store: Pick<Store, 'shadows' | 'shadowResults'>;
  summaries: ShadowSummaries;
}

/** Counts of differing decisions of a shadow. @throws shadow_policy_not_found, policy_shadow_query_invalid */
export async function shadowSummary(
  deps: ShadowResultDeps,
  caller: Caller,
  id: string,
  { from, to }: ShadowWindow,
): Promise<ShadowSummaryView> {
  requireFine(windowFault({ from, to }), 'to');
  const of = { tenant: caller.tenant, bundle: id };
  const head = await requireKnown(deps, of);
  const { counts, isCut, newestShadow } = await deps.summaries.of(of, { from, to });
  return {
    bundle_id: id,
    shadow_bundle_id: head?.shadow_bundle_id ?? newestShadow,
    from_ms: from,
    to_ms: to,
    total_evaluated: sumCounts(counts),
    escalated_count: counts.escalated,
    relaxed_count: counts.relaxed,
    approval_differ_count: counts.approval_differ,
    unchanged_count: counts.unchanged,
    truncated_at_max: isCut,
  };
}

/** The same, over time. @throws shadow_policy_not_found, policy_shadow_query_invalid */
export async function shadowTimeseries(
  deps: ShadowResultDeps,
  caller: Caller,
  id: string,
  { from, to, bucket }: ShadowTimeseriesQuery,
): Promise<ShadowTimeseriesView> {
  requireFine(windowFault({ from, to }), 'to');
  requireFine(bucketFault({ from, to }, bucket), 'bucket');
  const of = { tenant: caller.tenant, bundle: id };
  await requireKnown(deps, of);
  const window = { from: alignedDown(from, bucket), to };
  const { results, isCut } = await scanned(deps.store, of, window);
  return {
    bucket,
    from_ms: window.from,
    to_ms: to,
    buckets: buildTimeseries(results, window, bucket),
    truncated_at_max: isCut,
  };
}

/** Decisions of a shadow by job, newest first. @throws shadow_policy_not_found, policy_shadow_query_invalid */
export async function shadowComparisons(
  deps: ShadowResultDeps,
  caller: Caller,
  id: string,
  { from, to, diff, limit, cursor }: ShadowComparisonsQuery,
): Promise<ShadowComparisonsView> {
  requireFine(windowFault({ from, to }), 'to');
  const of = { tenant: caller.tenant, bundle: id };
  await requireKnown(deps, of);
  const entries: ShadowComparison[] = [];
  let before = cursor === undefined ? undefined : decodeCursor(cursor);
  for (let left = MAX_SCANNED; left > 0;) {
    const count = Math.min(left, diff === 'all' ? limit - entries.length + 1 : pageSize);
    const range = { fromMs: from, toMs: to, limit: count, ...(before && { before }) };
    const page = await deps.store.shadowResults.page(of.tenant, of.bundle, range);
    for (const result of page) {
      if (diff !== 'all' && result.diff !== diff) continue;
      const last = entries.at(-1);
      if (entries.length === limit && last)
        return { entries, next_cursor: encodeCursor(last), truncated_at_max: false };
      entries.push(toComparison(result));
    }
    if (page.length < count) return { entries, next_cursor: '', truncated_at_max: false };
    left -= page.length;
    before = page.at(-1);
  }
  const isCut = before !== undefined && (await hasMore(deps.store, of, { from, to }, before));
  return { entries, next_cursor: isCut && before ? encodeCursor(before) : '', truncated_at_max: isCut };
}

function toComparison(result: StoredShadowResult): ShadowComparison {
  const { ts_ms, seq, job_id, agent_id, shadow_bundle_id, active_verdict, shadow_verdict, diff } = result;
  const { active_rule_id, shadow_rule_id, latency_ms } = result;
  return {
    ts_ms, job_id, agent_id, shadow_bundle_id, active_verdict, shadow_verdict, diff, active_rule_id, shadow_rule_id,
    latency_ms, seq,
  }; // prettier-ignore
}

/** An ended shadow is found for as long as it has results. @throws shadow_policy_not_found */
async function requireKnown(
  { store }: ShadowResultDeps,
  { tenant, bundle }: BundleOfTenant,
): Promise<StoredShadowHead | undefined> {
  const [head, hasResults] = await Promise.all([
    store.shadows.head(tenant, bundle),
    store.shadowResults.exist(tenant, bundle),
  ]);
  if (!head && !hasResults) throw new AppError('shadow_policy_not_found');
  return head;
}

/** @throws policy_shadow_query_invalid */
function requireFine(fault: string | undefined, field: string): void {
  if (fault === undefined) return;
  const violations = [{ in: 'query', field, path: field, message: fault }];
  throw new AppError('policy_shadow_query_invalid', { error: fault, violations });
}
