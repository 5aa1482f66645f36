import type { Redis } from 'ioredis';
import { runScript } from './scripts';

/** A run, and the owner that its lock must have for a write to be let through. */
export interface Fence {
  run: string;
  owner: string;
}

/**
 * Somebody else has the run by now, or nobody: who asked for this must stop.
 * See docs/reference/workflows.md#how-a-run-proceeds.
 */
export class Fenced extends Error {
  constructor() {
    super('the lock of the run was lost');
  }
}

/**
 * A lease on a key: one owner at a time, by Redis' clock. Loops that must run on one replica only hold one; it is left to
 * expire rather than freed, so that cycles do not quicken with the number of replicas.
 */
export class Lease {
  constructor(
    private readonly redis: Redis,
    private readonly key: string,
    private readonly owner: string,
    private readonly ttlMs: number,
  ) {}

  /** Takes the lease or renews it; false when somebody else holds it. */
  async hold(): Promise<boolean> {
    const reply = await runScript(this.redis, 'lease', this.key, this.owner, this.ttlMs, 'hold');
    return (reply as [string])[0] === 'held';
  }

  /** Renews it; false when it was lost, to somebody else or to nobody. */
  async renew(): Promise<boolean> {
    const reply = await runScript(this.redis, 'lease', this.key, this.owner, this.ttlMs, 'renew');
    return (reply as [string])[0] === 'held';
  }

  async free(): Promise<void> {
    await runScript(this.redis, 'lease', this.key, this.owner, this.ttlMs, 'free');
  }
}
