import { getBlockSize, Leases, type Counted, type Counters } from './rate-leases';

/** Maximum requests per window of seconds. */
export interface RateWindow {
  points: number;
  sec: number;
}

const MAX_BUCKETS = 1_000;

/**
 * Counts requests of a bucket in several windows at once, all of which must have capacity. Windows may change between
 * requests; the count of a window with the same length is kept.
 */
export class RateWindows {
  private readonly opened = new Map<string, Leases>();
  /** Exhausted buckets, rejected from memory; otherwise rejected requests would exhaust their longer windows too. */
  private readonly refused = new Map<string, { counted: Counted; untilMs: number }>();

  constructor(
    private readonly open: (window: RateWindow) => Counters,
    private readonly nowMs: () => number,
  ) {}

  /** @throws errors of Redis */
  async take(bucket: string, windows: readonly RateWindow[]): Promise<Counted> {
    const nowMs = this.nowMs();
    const name = windows.map(({ points, sec }) => `${points}/${sec}`).join();
    const place = `${name} ${bucket}`;
    const known = this.refused.get(place);
    if (known && known.untilMs > nowMs) return { ...known.counted, msBeforeNext: known.untilMs - nowMs };
    const counted = await this.getLeases(name, windows).take(bucket, nowMs);
    if (counted.refused) {
      if (this.refused.size >= MAX_BUCKETS) this.refused.clear();
      this.refused.set(place, { counted, untilMs: nowMs + counted.msBeforeNext });
    }
    return counted;
  }

  private getLeases(name: string, windows: readonly RateWindow[]): Leases {
    const known = this.opened.get(name);
    if (known) return known;
    if (this.opened.size >= MAX_BUCKETS) this.opened.clear();
    const slowest = Math.min(...windows.map(({ points, sec }) => points / sec));
    const leases = new Leases(together(windows.map(this.open)), getBlockSize(slowest));
    this.opened.set(name, leases);
    return leases;
  }
}

/** Checks all windows concurrently; the rejection with the longest delay is the result. */
const together = (parts: readonly Counters[]): Counters => ({
  async consume(bucket, points) {
    const counted = await Promise.all(parts.map((part) => part.consume(bucket, points)));
    return counted.reduce((one, other) => (isTighter(other, one) ? other : one));
  },
});

/** Whether the first has less capacity left than the second. */
export function isTighter(one: Counted, other: Counted): boolean {
  if (one.refused !== other.refused) return one.refused;
  return one.refused ? one.msBeforeNext > other.msBeforeNext : one.remainingPoints < other.remainingPoints;
}
