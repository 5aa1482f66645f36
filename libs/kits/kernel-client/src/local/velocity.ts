import { keys, velocityWindowsRemembered } from '@svc/store';
import type { VelocityAnswer, VelocityCheck } from '@svc/policy';
import { hash, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { KernelEvents } from '../events';
import { loadBatchedScript } from '../scripts';

export type Counter = (check: VelocityCheck) => Promise<VelocityAnswer>;

export interface Velocity {
  /** Counts the request in its window. */
  count: Counter;
  /** The result of counting, without counting. */
  look: Counter;
}

/** Sliding windows in Redis, shared by all kernels. See docs/reference/policy.md#velocity. */
export function velocityWindows(
  redis: Redis,
  events: Pick<KernelEvents, 'velocityChecked' | 'failed'>,
  nowMs: () => number,
): Velocity {
  const run = loadBatchedScript(redis, 'velocity');
  const ask =
    (how: 'count' | 'look'): Counter =>
    async ({ ruleId, key, windowSeconds, maxRequests, member = randomUUID() }) => {
      const startedMs = nowMs();
      const name = hash('sha256', key);
      try {
        const count = await run({
          keys: [keys.velocity(ruleId, name), keys.velocityWindows(ruleId)],
          args: [how, member, windowSeconds * 1_000, name, velocityWindowsRemembered],
        });
        events.velocityChecked(ruleId, count > maxRequests ? 'over' : 'within', nowMs() - startedMs);
        return { kind: 'count', count };
      } catch (error) {
        events.velocityChecked(ruleId, 'unavailable', nowMs() - startedMs);
        events.failed('velocity', error);
        return { kind: 'unavailable' };
      }
    };
  return { count: ask('count'), look: ask('look') };
}
