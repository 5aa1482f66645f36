import type { ShadowDiff } from '@svc/contract';
import type { ShadowResultPosition, Store } from '@svc/store';
import type { Window } from './shadow-maths';

/** Tenant of the results, and bundle of the shadows. */
export interface BundleOfTenant {
  tenant: string;
  bundle: string;
}

/** Maximum number of results per query. See docs/reference/policy.md#shadow-policies. */
export const MAX_SCANNED = 10_000;
/** Bounds the time for which one query blocks the store. */
export const pageSize = 1_000;

export interface Scanned {
  /** Newest first. */
  results: { ts_ms: number; diff: ShadowDiff }[];
  /** Position of the newest; empty without results. */
  newestShadow: string;
  /** Older results exist. */
  isCut: boolean;
}

/** The newest results of a window. */
export async function scanned(
  store: Pick<Store, 'shadowResults'>,
  of: BundleOfTenant,
  window: Window,
): Promise<Scanned> {
  const read: Scanned = { results: [], newestShadow: '', isCut: false };
  let before: ShadowResultPosition | undefined;
  while (read.results.length < MAX_SCANNED) {
    const range = { fromMs: window.from, toMs: window.to, limit: pageSize, ...(before && { before }) };
    const page = await store.shadowResults.page(of.tenant, of.bundle, range);
    read.newestShadow ||= page[0]?.shadow_bundle_id ?? '';
    for (const { ts_ms, diff } of page) read.results.push({ ts_ms, diff });
    if (page.length < pageSize) return read;
    before = page.at(-1);
  }
  return { ...read, isCut: before !== undefined && (await hasMore(store, of, window, before)) };
}

/** Whether a window has results older than this one. */
export async function hasMore(
  store: Pick<Store, 'shadowResults'>,
  { tenant, bundle }: BundleOfTenant,
  { from, to }: Window,
  before: ShadowResultPosition,
): Promise<boolean> {
  return (await store.shadowResults.page(tenant, bundle, { fromMs: from, toMs: to, before, limit: 1 })).length > 0;
}
