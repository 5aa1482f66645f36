import { keys } from '@svc/store';
import type { Redis } from 'ioredis';

const MAX_SNAPSHOTS = 10;

/**
 * The newest policy snapshots: in memory for reads, in Redis for the next start and for scripts that compare a decision with
 * the policy in effect. The list in memory starts with the policy in effect in this process.
 * See docs/reference/policy.md#snapshots.
 */
export class SnapshotHistory {
  private known: readonly string[] = [];
  /** The snapshot that could not be stored. */
  private unstored: string | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly onError: (error: unknown) => void,
  ) {}

  list(): string[] {
    return [...this.known];
  }

  /**
   * Updates memory immediately. An unavailable Redis is reported; until `retry` succeeds, gateways place no jobs by decisions
   * of this snapshot.
   */
  async add(snapshot: string): Promise<void> {
    this.known = newest(snapshot, this.known);
    this.unstored = snapshot;
    const key = keys.policySnapshots();
    try {
      const answers = await this.redis
        .multi()
        .lrem(key, 0, snapshot)
        .lpush(key, snapshot)
        .ltrim(key, 0, MAX_SNAPSHOTS - 1)
        .set(keys.policyInEffect(), snapshot.split('|')[0] ?? '')
        .lrange(key, 0, -1)
        .exec();
      const [error, stored] = answers?.at(-1) ?? [new Error('the store dropped the transaction'), undefined];
      if (error) throw error;
      if (this.unstored === snapshot) this.unstored = undefined;
      if (Array.isArray(stored))
        this.known = [...new Set([...this.known, ...stored.map(String)])].slice(0, MAX_SNAPSHOTS);
    } catch (error) {
      this.onError(error);
    }
  }

  /** Stores the newest snapshot again if that failed before. */
  async retry(): Promise<void> {
    if (this.unstored !== undefined) await this.add(this.unstored);
  }
}

const newest = (first: string, others: readonly string[]): string[] =>
  [first, ...others.filter((other) => other !== first)].slice(0, MAX_SNAPSHOTS);
