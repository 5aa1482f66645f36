import type { Store } from '@svc/store';
import type { Clock } from '@svc/platform';
import { countDiffs, type DiffCounts, type Window } from './shadow-maths';
import { type BundleOfTenant, scanned, type Scanned } from './shadow-scan';

export interface ShadowCounts extends Pick<Scanned, 'newestShadow' | 'isCut'> {
  counts: DiffCounts;
}

const keptMs = 60_000;
const MAX_KEPT = 500;

/**
 * Caches counts of results for 60 s; concurrent equal queries share one read.
 * See docs/reference/policy.md#shadow-policies.
 */
export class ShadowSummaries {
  private readonly kept = new Map<string, { counts: Promise<ShadowCounts>; untilMs: number }>();

  constructor(
    private readonly store: Pick<Store, 'shadowResults'>,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {}

  of(of: BundleOfTenant, window: Window): Promise<ShadowCounts> {
    const key = JSON.stringify([of.tenant, of.bundle, window.from, window.to]);
    const nowMs = this.clock.nowMs();
    const found = this.kept.get(key);
    if (found && found.untilMs > nowMs) return found.counts;
    const counts = this.count(of, window);
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    this.kept.set(key, { counts, untilMs: nowMs + keptMs });
    counts.catch(() => this.kept.delete(key));
    return counts;
  }

  private async count(of: BundleOfTenant, window: Window): Promise<ShadowCounts> {
    const { results, newestShadow, isCut } = await scanned(this.store, of, window);
    return { counts: countDiffs(results), newestShadow, isCut };
  }
}
