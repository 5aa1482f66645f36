import { everyTenant } from '@svc/contract';
import type { Redis } from 'ioredis';
import { keys } from './keys';

/** How full one window of a velocity rule is. */
export interface VelocityWindow {
  ruleId: string;
  /** Requests in the window. */
  count: number;
  /** Job of the newest of these. */
  newestJob: string;
}

/** Submissions that a rule throttled in one minute. */
export interface ThrottledMinute {
  ruleId: string;
  /** Start of the minute; of the last submission when that is in this minute. */
  atMs: number;
  count: number;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
/** The last 24 hours touch 25 hours of the clock. */
const throttledKeptSec = 26 * 3_600;

/** Windows of a rule that kernels remember: of more, those that were counted in last. */
export const velocityWindowsRemembered = 10_000;
const mostWindows = 2_000;

/**
 * Reads what kernels count; see velocity-2.lua of the kernel client, which writes it.
 * See docs/reference/policy.md#velocity.
 */
export class VelocityRepository {
  constructor(private readonly redis: Redis) {}

  /**
   * The windows of rules that hold any request; of very many only those that were counted in last.
   *
   * @param rules length of the window of each rule, ms
   */
  async windows(
    rules: ReadonlyMap<string, number>,
    nowMs: number,
  ): Promise<{ windows: VelocityWindow[]; isWhole: boolean }> {
    const { found, isWhole } = await this.remembered([...rules.keys()], nowMs);
    const reading = this.redis.pipeline();
    for (const { ruleId, hash } of found) {
      const key = keys.velocity(ruleId, hash);
      reading.zcount(key, `(${nowMs - (rules.get(ruleId) ?? 0)}`, '+inf');
      reading.zrange(key, '-1', '-1');
    }
    const replies = (await reading.exec()) ?? [];
    const windows = found.map(({ ruleId }, i): VelocityWindow => {
      const [[countError, count] = [], [newestError, newest] = []] = replies.slice(i * 2, i * 2 + 2);
      if (countError ?? newestError) throw countError ?? newestError;
      return { ruleId, count: Number(count), newestJob: (newest as string[])[0] ?? '' };
    });
    return { windows: windows.filter(({ count }) => count > 0), isWhole };
  }

  /** Counts a throttled submission, of which no job is kept, for its tenant and for all. */
  async countThrottled(tenant: string, ruleId: string, nowMs: number): Promise<void> {
    const writing = this.redis.pipeline();
    for (const whose of [tenant, everyTenant]) {
      const key = keys.velocityThrottled(whose, String(Math.floor(nowMs / hourMs)));
      writing.hincrby(key, `count:${Math.floor(nowMs / minuteMs)}:${ruleId}`, 1);
      writing.hset(key, `last:${ruleId}`, String(nowMs));
      writing.expire(key, throttledKeptSec);
    }
    for (const [error] of (await writing.exec()) ?? []) if (error) throw error;
  }

  /**
   * Throttled submissions since a time at most 24 hours ago.
   *
   * @param tenant `*`: of every tenant
   */
  async throttled(tenant: string, sinceMs: number, nowMs: number): Promise<ThrottledMinute[]> {
    const reading = this.redis.pipeline();
    for (let hour = Math.floor(sinceMs / hourMs); hour <= Math.floor(nowMs / hourMs); hour += 1)
      reading.hgetall(keys.velocityThrottled(tenant, String(hour)));
    const replies = (await reading.exec()) ?? [];
    return replies
      .flatMap(([error, fields]) => {
        if (error) throw error;
        return throttledMinutes(fields as Record<string, string>);
      })
      .filter(({ atMs }) => atMs >= sinceMs && atMs <= nowMs);
  }

  /** Each rule has its share of what is read, so that one with very many windows hides no other. */
  private async remembered(ruleIds: readonly string[], nowMs: number) {
    const share = Math.max(1, Math.floor(mostWindows / Math.max(1, ruleIds.length)));
    const reading = this.redis.pipeline();
    for (const ruleId of ruleIds) {
      reading.zrevrangebyscore(keys.velocityWindows(ruleId), '+inf', nowMs, 'LIMIT', 0, share + 1);
    }
    const replies = ruleIds.length === 0 ? [] : ((await reading.exec()) ?? []);
    const named = replies.map(([error, names], i) => {
      if (error) throw error;
      return (names as string[]).map((hash) => ({ ruleId: ruleIds[i] ?? '', hash }));
    });
    return {
      found: named.flatMap((ofRule) => ofRule.slice(0, share)),
      isWhole: named.every((ofRule) => ofRule.length <= share),
    };
  }
}

/** The counts of one hour. */
const throttledMinutes = (fields: Readonly<Record<string, string>>): ThrottledMinute[] =>
  Object.entries(fields).flatMap(([field, count]) => {
    const [, minute, ruleId] = /^count:(\d+):(.*)$/s.exec(field) ?? [];
    if (minute === undefined || ruleId === undefined) return [];
    const startMs = Number(minute) * minuteMs;
    const lastMs = Number(fields[`last:${ruleId}`]);
    const isLast = lastMs >= startMs && lastMs < startMs + minuteMs;
    return [{ ruleId, atMs: isLast ? lastMs : startMs, count: Number(count) }];
  });
