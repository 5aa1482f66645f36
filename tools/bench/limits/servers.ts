import { startNats, startRedis, type TestServer } from '@svc/testing';

/** A Redis and a NATS as the product's are, for the raw limits alone. */
export interface LimitServers {
  redis: TestServer;
  nats: TestServer;
  /** Runs fewer times, for a look at whether things work. */
  quick: boolean;
}

/** Starts both with empty data of their own; `stopLimitServers` removes it. */
export async function startLimitServers(quick: boolean): Promise<LimitServers> {
  const [redis, nats] = await Promise.all([startRedis(), startNats()]);
  return { redis, nats, quick };
}

/** Ends both and removes their data. */
export async function stopLimitServers({ redis, nats }: LimitServers): Promise<void> {
  await Promise.all([redis.stop(), nats.stop()]);
}

/** Does `count` acts with `atOnce` of them under way. @returns acts a second */
export async function rateOf(count: number, atOnce: number, act: (i: number) => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  let begun = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (begun < count) await act(begun++);
    }),
  );
  return (count / (performance.now() - startedMs)) * 1_000;
}
