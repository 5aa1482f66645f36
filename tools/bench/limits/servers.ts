import { startNats, startRedis, type TestServer } from '@svc/testing';

/** A Redis and a NATS configured like the product's, for the raw limits only. */
export interface LimitServers {
  redis: TestServer;
  nats: TestServer;
  /** Fewer iterations, as a smoke test. */
  quick: boolean;
}

/** Starts both with empty data directories; `stopLimitServers` removes them. */
export async function startLimitServers(quick: boolean): Promise<LimitServers> {
  const [redis, nats] = await Promise.all([startRedis(), startNats()]);
  return { redis, nats, quick };
}

/** Stops both and removes their data. */
export async function stopLimitServers({ redis, nats }: LimitServers): Promise<void> {
  await Promise.all([redis.stop(), nats.stop()]);
}

/** Runs `count` acts with `atOnce` in flight. @returns acts per second */
export async function measureRate(
  count: number,
  atOnce: number,
  act: (i: number) => Promise<unknown>,
): Promise<number> {
  const startedMs = performance.now();
  let begun = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (begun < count) await act(begun++);
    }),
  );
  return (count / (performance.now() - startedMs)) * 1_000;
}
