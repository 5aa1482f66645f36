import { everyTenant } from '@svc/contract';
import type { Redis } from 'ioredis';
import { keys } from './keys';

/** Usage of one window of a velocity rule. */
export interface VelocityWindow {
  ruleId: string;
  /** Requests in the window. */
  count: number;
  /** Job of the newest request. */
  newestJob: string;
}

/** Submissions that a rule throttled in one minute. */
export interface ThrottledMinute {
  ruleId: string;
  /** Start of the minute, or the time of the last submission if it is in this minute. */
  atMs: number;
  count: number;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
/** 24 hours span 25 clock hours. */
const throttledKeptSec = 26 * 3_600;

/** Maximum number of windows recorded per rule, most recently used first. */
export const velocityWindowsRemembered = 10_000;
const MAX_WINDOWS = 2_000;

/**
 * Reads the counts of kernels, written by velocity.lua of the kernel client.
 * See docs/reference/policy.md#velocity.
 */
export class VelocityRepository {
  constructor(private readonly redis: Redis) {}

  /**
   * Windows of rules with at least one request; if there are too many, the most recently used ones.
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

  /** Counts a throttled submission, which creates no job, for its tenant and for all tenants. */
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

  /** Limits the windows per rule, so that a rule with many windows does not hide others. */
  private async remembered(ruleIds: readonly string[], nowMs: number) {
    const share = Math.max(1, Math.floor(MAX_WINDOWS / Math.max(1, ruleIds.length)));
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
