import { blockOf, Leases, type Counted, type Counters } from './rate-leases';

/** At most so many requests in each so many seconds. */
export interface RateWindow {
  points: number;
  sec: number;
}

const mostKept = 1_000;

/**
 * Counts requests of a bucket in several windows at once, all of which must have room. Windows may change from one request to
 * the next; what the shared store counted in a window of the same length stays counted.
 */
export class RateWindows {
  private readonly opened = new Map<string, Leases>();
  /** Buckets that are used up, from memory: otherwise a flood of refused requests would use up their longer windows too. */
  private readonly refused = new Map<string, { counted: Counted; untilMs: number }>();

  constructor(
    private readonly open: (window: RateWindow) => Counters,
    private readonly nowMs: () => number,
  ) {}

  /** @throws what the store throws */
  async take(bucket: string, windows: readonly RateWindow[]): Promise<Counted> {
    const nowMs = this.nowMs();
    const name = windows.map(({ points, sec }) => `${points}/${sec}`).join();
    const place = `${name} ${bucket}`;
    const known = this.refused.get(place);
    if (known && known.untilMs > nowMs) return { ...known.counted, msBeforeNext: known.untilMs - nowMs };
    const counted = await this.leasesOf(name, windows).take(bucket, nowMs);
    if (counted.refused) {
      if (this.refused.size >= mostKept) this.refused.clear();
      this.refused.set(place, { counted, untilMs: nowMs + counted.msBeforeNext });
    }
    return counted;
  }

  private leasesOf(name: string, windows: readonly RateWindow[]): Leases {
    const known = this.opened.get(name);
    if (known) return known;
    if (this.opened.size >= mostKept) this.opened.clear();
    const slowest = Math.min(...windows.map(({ points, sec }) => points / sec));
    const leases = new Leases(together(windows.map(this.open)), blockOf(slowest));
    this.opened.set(name, leases);
    return leases;
  }
}

/** Asks all windows at the same time: one that refuses, and of several the one that does so longest, speaks for all. */
const together = (parts: readonly Counters[]): Counters => ({
  async consume(bucket, points) {
    const counted = await Promise.all(parts.map((part) => part.consume(bucket, points)));
    return counted.reduce((one, other) => (isTighter(other, one) ? other : one));
  },
});

/** Does the first leave less than the second? */
export function isTighter(one: Counted, other: Counted): boolean {
  if (one.refused !== other.refused) return one.refused;
  return one.refused ? one.msBeforeNext > other.msBeforeNext : one.remainingPoints < other.remainingPoints;
}
