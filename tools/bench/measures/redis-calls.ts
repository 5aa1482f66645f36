import { runDrain } from '../drain';
import { observerName } from '../product';
import { getAddresses, CallCounter, sum } from '../redis-counts';
import type { Session } from '../session';

/**
 * Redis calls of the processes per job, from its POST to its end. Counted in a separate drain, since MONITOR slows Redis
 * down.
 */
export async function redisCalls(session: Session): Promise<number> {
  const { product } = await session.product();
  const counter = await CallCounter.open(product.stack.info.redis_url, await getAddresses(product.redis, observerName));
  const jobs = session.sizes.counted;
  await runDrain(product, jobs);
  const calls = await counter.close();
  const largest = [...calls].sort(([, a], [, b]) => b - a).slice(0, 12);
  const named = largest.map(([name, count]) => `${name} ${(count / jobs).toFixed(2)}`);
  session.say(`Redis calls per job: ${named.join(', ')}`);
  return sum(calls) / jobs;
}
