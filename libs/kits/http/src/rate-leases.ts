/** Result of taking requests out of a bucket. */
export interface Counted {
  refused: boolean;
  /** Capacity of the window; of several windows, that of the tightest. */
  points: number;
  remainingPoints: number;
  msBeforeNext: number;
}

/** @throws errors of Redis */
export interface Counters {
  consume(bucket: string, points?: number): Promise<Counted>;
}

/** Requests taken from Redis per round trip: blocks for a high limit, one by one for a low limit, so that it is exact. */
export const getBlockSize = (perSecond: number): number => Math.min(32, Math.max(1, Math.floor(perSecond / 50)));

interface Lease {
  left: number;
  counted: Counted;
  /** Unix ms at which the unused rest expires with its window. */
  endsMs: number;
}

/** Requests leased from the shared counters and not used yet, by bucket. A process loses at most one block. */
export class Leases {
  private readonly held = new Map<string, Lease>();
  private readonly asking = new Map<string, Promise<Counted>>();

  constructor(
    private readonly counters: Counters,
    private readonly block: number,
  ) {}

  /** @throws errors of Redis */
  async take(bucket: string, nowMs: number): Promise<Counted> {
    if (this.block === 1) return this.counters.consume(bucket);
    for (;;) {
      const lease = this.held.get(bucket);
      if (lease && lease.left > 0 && lease.endsMs > nowMs) {
        lease.left--;
        const remainingPoints = lease.counted.remainingPoints + lease.left;
        return { ...lease.counted, remainingPoints, msBeforeNext: lease.endsMs - nowMs };
      }
      const asking = this.asking.get(bucket) ?? this.ask(bucket, nowMs);
      this.asking.set(bucket, asking);
      const counted = await asking;
      if (counted.refused) return counted;
    }
  }

  private async ask(bucket: string, nowMs: number): Promise<Counted> {
    try {
      const counted = await this.counters.consume(bucket, this.block);
      if (counted.refused) return counted;
      // Removes expired buckets from time to time.
      if (this.held.size > 10_000) this.held.clear();
      this.held.set(bucket, { left: this.block, counted, endsMs: nowMs + Math.max(1, counted.msBeforeNext) });
      return counted;
    } finally {
      this.asking.delete(bucket);
    }
  }
}
