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

/** Windows of a rule that kernels remember: of more, those that were counted in last. */
export const velocityWindowsRemembered = 10_000;
const mostWindows = 2_000;

/** Reads what kernels count; see velocity-2.lua of the kernel client, which writes it. Policy contract 3.7, 8. */
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
