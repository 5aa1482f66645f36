import { runDrain } from '../drain';
import { countLoneCalls } from '../lone-counts';
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
  const perJob = new Map([...calls].map(([name, count]) => [name, count / jobs]));
  session.say(`Redis calls per job: ${largest(perJob)}`);
  return sum(perJob);
}

/** Redis calls per job when one client waits for each job before it submits the next, beyond those of an idle product. */
export async function redisCallsAlone(session: Session): Promise<number> {
  const { product } = await session.product();
  const perJob = await countLoneCalls(product, session.sizes.recorded);
  session.say(`Redis calls per job alone: ${largest(perJob)}`);
  return sum(perJob);
}

const largest = (perJob: ReadonlyMap<string, number>) =>
  [...perJob]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 12)
    .map(([name, count]) => `${name} ${count.toFixed(2)}`)
    .join(', ');
