import { setTimeout as sleep } from 'node:timers/promises';
import { observerName, type Product } from './product';
import { CallCounter, commandCounts, excess, getAddresses } from './redis-counts';
import { roundTrips } from './round-trips';

/**
 * Calls to Redis per lone round trip, by command: one client waits for each job before it submits the next. Calls that an
 * idle product makes over the same time, such as polls, are subtracted.
 */
export const countLoneCalls = (product: Product, count: number): Promise<Map<string, number>> =>
  beyondIdle(product, count, async (act) => {
    const bench = await getAddresses(product.redis, observerName);
    const counter = await CallCounter.open(product.stack.info.redis_url, bench);
    await act();
    return counter.close();
  });

/** Commands in Redis per lone round trip, by name, including those inside scripts, beyond those of an idle product. */
export const countLoneCommands = (product: Product, count: number): Promise<Map<string, number>> =>
  beyondIdle(product, count, async (act) => {
    // Events of jobs that ran before the count do not belong to it, and those of its last jobs do.
    await untilFollowed(product);
    await product.redis.config('RESETSTAT');
    await act();
    await untilFollowed(product);
    return commandCounts(product.redis);
  });

const PAUSE_MS = 50;
/** Of the bench's client. */
const TENANT = 'default';
/** Its submission with the decision, its dispatch and its end. */
const EVENTS_PER_JOB = 3;

/** The engine seals audit events some time after the changes, and derives the decision log from them another time later. */
async function untilFollowed({ store }: Product): Promise<void> {
  while ((await store.audit.outboxLength()) > 0) await sleep(PAUSE_MS);
  const newest = await store.redis.xrevrange(store.keys.auditChain(TENANT), '+', '-', 'COUNT', EVENTS_PER_JOB);
  const decision =
    newest.map(([, fields]) => fields.join(' ')).find((text) => text.includes('"safety.decision"')) ?? '';
  const position = Number(/"seq":(\d+)/.exec(decision)?.[1] ?? 0);
  const followed = async () => Number(await store.redis.hget(store.keys.governanceMarks(TENANT), 'decisions'));
  while ((await followed()) < position) await sleep(PAUSE_MS);
}

type Count = (act: () => Promise<unknown>) => Promise<ReadonlyMap<string, number>>;

async function beyondIdle(product: Product, count: number, countDuring: Count): Promise<Map<string, number>> {
  // Fills caches and loads scripts.
  await roundTrips(product, 1, Math.ceil(count / 4));
  const startedMs = performance.now();
  const during = await countDuring(() => roundTrips(product, 1, count));
  const tookMs = performance.now() - startedMs;
  const idle = await countDuring(() => sleep(tookMs));
  return excess(during, idle, count);
}
