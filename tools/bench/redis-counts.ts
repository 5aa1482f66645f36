import { monitorCommands, type CommandMonitor } from '@svc/testing';
import type { Redis } from 'ioredis';

/** Commands executed since the last reset, those inside scripts included, by name. */
export async function commandCounts(redis: Redis): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const [, name = '', calls = ''] of (await redis.info('commandstats')).matchAll(
    /^cmdstat_(\S+?):calls=(\d+)/gm,
  )) {
    counts.set(name, Number(calls));
  }
  return counts;
}

/** Of all commands together. */
export const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);

/**
 * Counts the commands of clients, by name: `total_commands_processed` and `commandstats` also count the commands inside
 * scripts, and nothing in INFO tells the two apart. It slows Redis down, so nothing is timed meanwhile.
 */
export class CallCounter {
  private constructor(
    private readonly counts: ReadonlyMap<string, number>,
    private readonly monitor: CommandMonitor,
  ) {}

  /** @param ignored addresses (`host:port`) of the bench's own connections */
  static async open(redisUrl: string, ignored: ReadonlySet<string>): Promise<CallCounter> {
    const counts = new Map<string, number>();
    const monitor = await monitorCommands(redisUrl, ({ from, name }) => {
      if (from !== 'lua' && !ignored.has(from)) counts.set(name, (counts.get(name) ?? 0) + 1);
    });
    return new CallCounter(counts, monitor);
  }

  /** The counts by command; the first eight characters of a script's hash tell scripts apart. */
  async close(): Promise<ReadonlyMap<string, number>> {
    await this.monitor.close();
    return this.counts;
  }
}

/** Addresses of connections with this name, as MONITOR shows them. */
export async function addressesOf(redis: Redis, connectionName: string): Promise<Set<string>> {
  const list = String(await redis.client('LIST'));
  const named = list.split('\n').filter((line) => line.includes(` name=${connectionName} `));
  return new Set(named.flatMap((line) => / addr=(\S+)/.exec(line)?.[1] ?? []));
}
