import { runDrain } from '../drain';
import { observerName } from '../product';
import { addressesOf, CallCounter, sum } from '../redis-counts';
import type { Session } from '../session';

/**
 * Calls that the processes make to Redis for a job, from its POST to its end. Counted in a drain of its own, since being
 * watched slows Redis down.
 */
export async function redisCalls(session: Session): Promise<number> {
  const { product } = await session.product();
  const counter = await CallCounter.open(product.stack.info.redis_url, await addressesOf(product.redis, observerName));
  const jobs = session.sizes.counted;
  await runDrain(product, jobs);
  const calls = await counter.close();
  const largest = [...calls].sort(([, a], [, b]) => b - a).slice(0, 12);
  const named = largest.map(([name, count]) => `${name} ${(count / jobs).toFixed(2)}`);
  session.say(`Redis calls a job: ${named.join(', ')}`);
  return sum(calls) / jobs;
}
