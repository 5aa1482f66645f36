import type { Redis } from 'ioredis';
import type { BlockedBy, JobRecord } from './job.record';
import type { Keys } from './keys';
import { runScript } from './scripts';

/** Keys processed by one call, which lets up to 64 jobs of each through; further ones follow with the next. */
const MAX_DUE_KEYS = 16;
/** Permissions of one key that one call checks. */
const MAX_CHECKED = 1_000;
/** Holders shown in explanations. */
const MAX_SHOWN = 20;

/** Usage of the limit that a job waits for. All jobs are of its tenant. */
export interface LimitUsage {
  by: BlockedBy['by'];
  /** Jobs that hold a permission, oldest first; the first 20. */
  holders: string[];
  held: number;
  /** Jobs ahead of it in the list of the key. */
  ahead: number;
  /** When the limit changes by itself, unix ms. */
  dueMs?: number;
}

/** Limits that jobs name by keys. See docs/adr/0026-limits-by-key.md. */
export class LimitRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /**
   * Lets jobs through whose debounce period is over, or whose rate allows another start.
   *
   * @param nowMs default: the time of Redis
   * @returns time of the next change, unix ms
   */
  async open(nowMs?: number): Promise<number | undefined> {
    const args = [nowMs === undefined ? '' : String(nowMs), String(MAX_DUE_KEYS)];
    const [next] = (await runScript(this.redis, 'openLimits', this.keys.limitsDue(), ...args)) as [string];
    return next === '' ? undefined : Number(next);
  }

  /** Removes permissions of jobs that do not exist or have ended. Returns their number. */
  async repair(): Promise<number> {
    let removed = 0;
    for await (const refs of this.redis.sscanStream(this.keys.limitsUsed(), { count: 100 })) {
      const counts = (refs as string[]).map((ref) =>
        runScript(this.redis, 'repairLimits', this.keys.limitsUsed(), ref, String(MAX_CHECKED)),
      );
      for (const count of await Promise.all(counts)) removed += Number(count);
    }
    return removed;
  }

  /** Usage of the limit that a job waits for; undefined when it waits for none. */
  async usage(
    job: Pick<JobRecord, 'id' | 'tenant' | 'limits' | 'blocked'>,
    nowMs: number,
  ): Promise<LimitUsage | undefined> {
    const { blocked, limits } = job;
    const limit = blocked && limits?.[blocked.by];
    if (!blocked || !limit) return undefined;
    const { by } = blocked;
    if (by === 'debounce') {
      const due = await this.redis.hget(this.keys.limitDebounce(job.tenant, limit.key), 'due');
      return { by, holders: [], held: 0, ahead: 0, ...(due !== null && { dueMs: Number(due) }) };
    }
    const holders = this.keys.limitHolders(by, job.tenant, limit.key);
    const periodMs = limits.rate?.per_ms ?? 0;
    const since = by === 'rate' ? nowMs - periodMs : '-inf';
    const [members, held, ahead] = await Promise.all([
      this.redis.zrangebyscore(holders, since, '+inf', 'WITHSCORES', 'LIMIT', 0, MAX_SHOWN),
      this.redis.zcount(holders, since, '+inf'),
      this.redis.zrank(this.keys.limitWaiters(by, job.tenant, limit.key), job.id),
    ]);
    const first = Number(members[1]);
    const dueMs = by === 'rate' && Number.isFinite(first) ? { dueMs: first + periodMs } : {};
    const ids = members.filter((_, i) => i % 2 === 0).map((id) => (by === 'rate' ? id.replace(/:\d+$/, '') : id));
    return { by, holders: ids, held, ahead: ahead ?? 0, ...dueMs };
  }
}
