/** What became of an attempt to take requests out of a bucket. */
export interface Counted {
  refused: boolean;
  /** How many requests the window holds; of several windows, that of the tightest. */
  points: number;
  remainingPoints: number;
  msBeforeNext: number;
}

/** @throws what the store throws */
export interface Counters {
  consume(bucket: string, points?: number): Promise<Counted>;
}

/** Of a generous limit, requests are taken from the store some at a time; of a small one, one by one, so that it is exact. */
export const blockOf = (perSecond: number): number => Math.min(32, Math.max(1, Math.floor(perSecond / 50)));

interface Lease {
  left: number;
  counted: Counted;
  /** Unix ms: what is left then goes with the window it was taken from. */
  endsMs: number;
}

/** Requests taken from the shared counters and not used yet, by bucket. At most one block a process is ever left unused. */
export class Leases {
  private readonly held = new Map<string, Lease>();
  private readonly asking = new Map<string, Promise<Counted>>();

  constructor(
    private readonly counters: Counters,
    private readonly block: number,
  ) {}

  /** @throws what the store throws */
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
      // Buckets of callers that went away are dropped now and then.
      if (this.held.size > 10_000) this.held.clear();
      this.held.set(bucket, { left: this.block, counted, endsMs: nowMs + Math.max(1, counted.msBeforeNext) });
      return counted;
    } finally {
      this.asking.delete(bucket);
    }
  }
}
