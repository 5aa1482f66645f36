import type { Redis } from 'ioredis';
import { keys } from './keys';
import { runScript } from './scripts';

export type LockMode = 'exclusive' | 'shared';

export interface LockOwner {
  owner: string;
  /** Number of acquisitions that are not released. */
  count: number;
  /** Fencing token; greater than those of every earlier holding. */
  token: number;
  expiresMs: number;
}

export interface LockRecord {
  mode: LockMode;
  /** µs */
  updatedAt: number;
  owners: LockOwner[];
}

/** A lease or lock found by a scan. */
export interface LockEntry {
  key: string;
  /** Empty for keys that hold no owner. */
  holder: string;
  /** 0 = no expiry. */
  ttlMs: number;
  type: string;
}

export interface LockScan {
  entries: LockEntry[];
  /** More keys may exist: the maximum of entries or of scanned keys was reached. */
  isTruncated: boolean;
}

/** Bounds the size of a shared lock. */
const MAX_OWNERS = 1_000;
const SCAN_COUNT = 1_000;
/** Bounds the time of a listing in a store with many keys: about two million of them. */
const MAX_SCANS = 2_000;
const maxHolderChars = 256;

/** Types by key prefix. Only keys of a type with `isHeld` name their owner. */
const types: readonly { type: string; prefix: string; isHeld?: true }[] = [
  { type: 'reconciler', prefix: 'svc:reconciler:', isHeld: true },
  { type: 'replayer', prefix: 'svc:replayer:', isHeld: true },
  { type: 'job', prefix: 'svc:scheduler:job:', isHeld: true },
  { type: 'snapshot', prefix: 'svc:scheduler:snapshot:', isHeld: true },
  { type: 'dlq_cleanup', prefix: 'svc:dlq:cleanup', isHeld: true },
  { type: 'workflow_run', prefix: 'svc:wf:run:lock:', isHeld: true },
  { type: 'delay_poller', prefix: 'svc:wf:delay:poller', isHeld: true },
  { type: 'workflow_reconciler', prefix: 'svc:workflow-engine:reconciler:', isHeld: true },
  { type: 'rate_limit', prefix: 'svc:rl:' },
  { type: 'jwks_cache', prefix: 'svc:auth:jwks:' },
  { type: 'circuit_breaker', prefix: 'svc:cb:' },
  { type: 'marketplace_cache', prefix: 'svc:cache:marketplace' },
  { type: 'resource', prefix: 'svc:lock:', isHeld: true },
  // Other leases of the scheduler.
  { type: 'unknown', prefix: 'svc:scheduler:', isHeld: true },
];

/** Locks of clients by tenant and name, and a listing of all locks and leases. Expiry is by the Redis clock. */
export class LockRepository {
  constructor(private readonly redis: Redis) {}

  /** Acquires a lock, or acquires it once more; undefined when others hold it. */
  acquire(
    tenant: string,
    resource: string,
    owner: string,
    mode: LockMode,
    ttlMs: number,
  ): Promise<LockRecord | undefined> {
    const places = [keys.lock(tenant, resource), keys.lockTokens()] as const;
    return this.held(runScript(this.redis, 'acquireLock', ...places, owner, mode, ttlMs, MAX_OWNERS));
  }

  /** Releases one acquisition. @returns the lock, `freed` without owners, or undefined when the owner does not hold it */
  async release(tenant: string, resource: string, owner: string): Promise<LockRecord | 'freed' | undefined> {
    const reply = (await runScript(this.redis, 'releaseLock', keys.lock(tenant, resource), owner)) as string[];
    return reply[0] === 'freed' ? 'freed' : toLock(reply);
  }

  /** Restarts the time of an owner; undefined when it does not hold the lock. */
  renew(tenant: string, resource: string, owner: string, ttlMs: number): Promise<LockRecord | undefined> {
    return this.held(runScript(this.redis, 'renewLock', keys.lock(tenant, resource), owner, ttlMs));
  }

  /** The lock, if it is held. */
  read(tenant: string, resource: string): Promise<LockRecord | undefined> {
    return this.held(runScript(this.redis, 'readLock', keys.lock(tenant, resource)));
  }

  private async held(reply: Promise<unknown>): Promise<LockRecord | undefined> {
    return toLock((await reply) as string[]);
  }

  /**
   * Locks, leases, rate limits and caches of all tenants, at most `most`. Other commands run between the steps of the scan.
   * Rate limits are the most frequent keys and are listed last, so that they hide no lock.
   */
  async scan(most: number): Promise<LockScan> {
    const found = new Map<string, string>();
    const limiters = new Map<string, string>();
    let cursor = '0';
    let scans = 0;
    do {
      const [next, batch] = await this.redis.scan(cursor, 'MATCH', 'svc:*', 'COUNT', SCAN_COUNT);
      cursor = next;
      for (const key of batch) {
        const type = types.find(({ prefix }) => key.startsWith(prefix))?.type;
        const list = type === 'rate_limit' ? limiters : found;
        if (type !== undefined && list.size < most + 1) list.set(key, type);
      }
    } while (cursor !== '0' && found.size <= most && ++scans < MAX_SCANS);
    const listed = [...found, ...limiters];
    const entries = await this.entries(listed.slice(0, most));
    return { entries, isTruncated: cursor !== '0' || listed.length > most };
  }

  /** Keys that have expired since the scan are left out. */
  private async entries(found: readonly (readonly [key: string, type: string])[]): Promise<LockEntry[]> {
    const reading = this.redis.pipeline();
    for (const [key, type] of found) {
      reading.pttl(key);
      if (type === 'resource') reading.hkeys(key);
      else reading.get(key);
    }
    const replies = (await reading.exec()) ?? [];
    return found.flatMap(([key, type], i) => {
      const ttl = Number(replies[2 * i]?.[1]);
      const [error, held] = replies[2 * i + 1] ?? [];
      if (!(ttl >= -1)) return [];
      return [{ key, holder: error ? '' : toHolder(key, held), ttlMs: Math.max(0, ttl), type }];
    });
  }
}

function toHolder(key: string, held: unknown): string {
  if (!types.find(({ prefix }) => key.startsWith(prefix))?.isHeld) return '';
  const owners = Array.isArray(held)
    ? (held as string[]).flatMap((field) => (field.startsWith('o:') ? [field.slice(2)] : []))
    : [typeof held === 'string' ? held : ''];
  return owners.join(', ').slice(0, maxHolderChars);
}

function toLock([word, mode, updatedAt, ...fields]: string[]): LockRecord | undefined {
  if (word !== 'held') return undefined;
  const owners: LockOwner[] = [];
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [owner = '', count, token, expires] = fields.slice(i, i + 4);
    owners.push({ owner, count: Number(count), token: Number(token), expiresMs: Number(expires) });
  }
  return { mode: mode === 'shared' ? 'shared' : 'exclusive', updatedAt: Number(updatedAt), owners };
}
