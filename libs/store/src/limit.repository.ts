import type { Redis } from 'ioredis';
import type { BlockedBy, JobRecord } from './job.record';
import type { Keys } from './keys';
import { runScript } from './scripts';

/** Keys processed by one call, which lets up to 64 jobs of each through; further ones follow with the next. */
const MAX_DUE_KEYS = 16;
/** Permissions of one key that one call checks. */
const CHECKED_PER_CALL = 500;
/** Concurrent calls. */
const MAX_CALLS = 20;
/** Bounds one pass, in permissions; a call costs as much as checking ten. */
const MAX_PASS_COST = 30_000;
const CALL_COST = 10;
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

/** Where a pass of the repair stopped. */
export interface LimitRepair {
  /** Of the set of keys in use. */
  cursor: string;
  /** The set was read to its end. */
  isListed: boolean;
  /** Keys that are still to be checked, from these permissions on. */
  pages: { ref: string; skip: number }[];
}

export const newLimitRepair = (): LimitRepair => ({ cursor: '0', isListed: false, pages: [] });

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

  /**
   * Removes permissions of jobs that do not exist or have ended. A pass has a bounded cost; the next one continues where it
   * stopped, so that passes check every permission of every key.
   *
   * @param position where the last pass stopped; updated
   * @returns number of removed permissions
   */
  async repair(position: LimitRepair = newLimitRepair()): Promise<number> {
    let removed = 0;
    for (let cost = 0; cost < MAX_PASS_COST; cost += CALL_COST) {
      if (position.pages.length < MAX_CALLS && !position.isListed) await this.listUsed(position);
      const pages = position.pages.splice(0, MAX_CALLS);
      const checked = await Promise.all(pages.map((page) => this.repairPage(page)));
      for (const [i, page] of pages.entries()) {
        const { count, size, next } = checked[i] ?? { count: 0, size: 0, next: -1 };
        removed += count;
        cost += CALL_COST + size;
        if (next >= 0) position.pages.push({ ref: page.ref, skip: next });
      }
      if (position.isListed && position.pages.length === 0) {
        Object.assign(position, newLimitRepair());
        return removed;
      }
    }
    return removed;
  }

  private async listUsed(position: LimitRepair): Promise<void> {
    const [cursor, refs] = await this.redis.sscan(this.keys.limitsUsed(), position.cursor, 'COUNT', 2 * MAX_CALLS);
    position.cursor = cursor;
    position.isListed = cursor === '0';
    position.pages.push(...refs.map((ref) => ({ ref, skip: 0 })));
  }

  private async repairPage({ ref, skip }: LimitRepair['pages'][number]) {
    const args = [ref, String(skip), String(CHECKED_PER_CALL)];
    const reply = await runScript(this.redis, 'repairLimits', this.keys.limitsUsed(), ...args);
    const [count, size, next] = reply as [number, number, number];
    return { count, size, next };
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
