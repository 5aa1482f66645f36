/** One series of a gauge over open jobs. */
export interface OpenJobCount {
  /** `stale`: past its deadline, `label` is its state. `waiting`: without a worker, `label` is the reason. */
  kind: 'stale' | 'waiting';
  topic: string;
  label: string;
  count: number;
}

type Tally = Map<string, OpenJobCount>;

/**
 * Counts open jobs during the reconciler's walks, which may take several cycles for a tenant with many jobs. A tenant is
 * reported as of its last complete walk.
 */
export class OpenJobCensus {
  private readonly underWay = new Map<string, Tally>();
  private readonly complete = new Map<string, Tally>();

  /** @param topic one of a bounded set */
  add(tenant: string, kind: OpenJobCount['kind'], topic: string, label: string): void {
    const tally: Tally = this.underWay.get(tenant) ?? new Map();
    this.underWay.set(tenant, tally);
    addTo(tally, { kind, topic, label, count: 1 });
  }

  /** The walk over a tenant's jobs has reached its end. */
  finish(tenant: string): void {
    this.complete.set(tenant, this.underWay.get(tenant) ?? new Map());
    this.underWay.delete(tenant);
  }

  /** Counts of the tenants that still exist. */
  totals(tenants: readonly string[]): OpenJobCount[] {
    const known = new Set(tenants);
    for (const map of [this.underWay, this.complete]) {
      for (const tenant of map.keys()) if (!known.has(tenant)) map.delete(tenant);
    }
    const total: Tally = new Map();
    for (const tally of this.complete.values()) for (const count of tally.values()) addTo(total, count);
    return [...total.values()];
  }
}

function addTo(tally: Tally, { count, ...series }: OpenJobCount): void {
  const key = JSON.stringify(series);
  tally.set(key, { ...series, count: (tally.get(key)?.count ?? 0) + count });
}
