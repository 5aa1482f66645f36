import type { Redis } from 'ioredis';
import { runScript } from './scripts';

/** A run, and the lock owner required for a write. */
export interface Fence {
  run: string;
  owner: string;
}

/**
 * The caller has lost the lock of the run and must stop. See docs/reference/workflows.md#how-a-run-proceeds.
 */
export class Fenced extends Error {
  constructor() {
    super('the lock of the run was lost');
  }
}

/**
 * A lease on a key: one owner at a time, by the Redis clock. Loops that must run on a single replica hold a lease; it
 * expires instead of being released, so that more replicas do not shorten the period.
 */
export class Lease {
  constructor(
    private readonly redis: Redis,
    private readonly key: string,
    private readonly owner: string,
    private readonly ttlMs: number,
  ) {}

  /** Acquires or renews the lease; false if another owner holds it. */
  async hold(): Promise<boolean> {
    const reply = await runScript(this.redis, 'lease', this.key, this.owner, this.ttlMs, 'hold');
    return (reply as [string])[0] === 'held';
  }

  /** Renews the lease; false if it was lost. */
  async renew(): Promise<boolean> {
    const reply = await runScript(this.redis, 'lease', this.key, this.owner, this.ttlMs, 'renew');
    return (reply as [string])[0] === 'held';
  }

  async free(): Promise<void> {
    await runScript(this.redis, 'lease', this.key, this.owner, this.ttlMs, 'free');
  }
}
