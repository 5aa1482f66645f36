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

const scanned = 1_000;
const mostScans = 200;
const mostWindows = 2_000;

/** Reads what kernels count; see velocity-1.lua of the kernel client, which writes it. Policy contract 3.7, 8. */
export class VelocityRepository {
  constructor(private readonly redis: Redis) {}

  /**
   * The windows of rules that hold any request, without blocking the store: of a very large one only a part is looked at.
   *
   * @param rules length of the window of each rule, ms
   */
  async windows(
    rules: ReadonlyMap<string, number>,
    nowMs: number,
  ): Promise<{ windows: VelocityWindow[]; isWhole: boolean }> {
    const { found, isWhole } = await this.find(rules);
    const reading = this.redis.pipeline();
    for (const { key, windowMs } of found) {
      reading.zcount(key, `(${nowMs - windowMs}`, '+inf');
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

  private async find(rules: ReadonlyMap<string, number>) {
    const prefixes = [...rules].map(([ruleId, windowMs]) => ({ prefix: keys.velocity(ruleId, ''), ruleId, windowMs }));
    const found = new Map<string, { key: string; ruleId: string; windowMs: number }>();
    if (rules.size === 0) return { found: [], isWhole: true };
    let cursor = '0';
    for (let i = 0; i < mostScans && found.size < mostWindows; i++) {
      const [next, batch] = await this.redis.scan(cursor, 'MATCH', 'svc:velocity:*', 'COUNT', scanned);
      for (const key of batch) {
        const rule = prefixes.find(({ prefix }) => key.startsWith(prefix));
        if (rule) found.set(key, { key, ruleId: rule.ruleId, windowMs: rule.windowMs });
      }
      cursor = next;
      if (cursor === '0') return { found: [...found.values()], isWhole: true };
    }
    return { found: [...found.values()], isWhole: false };
  }
}
