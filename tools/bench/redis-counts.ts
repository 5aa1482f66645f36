import { monitorCommands, type CommandMonitor } from '@svc/testing';
import type { Redis } from 'ioredis';

/** Commands executed since the last reset, including those inside scripts, by name. */
export async function commandCounts(redis: Redis): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const [, name = '', calls = ''] of (await redis.info('commandstats')).matchAll(
    /^cmdstat_(\S+?):calls=(\d+)/gm,
  )) {
    counts.set(name, Number(calls));
  }
  return counts;
}

/** Total of all commands. */
export const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);

/**
 * Counts the commands of clients, by name: `total_commands_processed` and `commandstats` also count the commands inside
 * scripts, and INFO does not separate the two. It slows Redis down, so nothing is timed at the same time.
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

  /** Counts by command; scripts are listed by the first eight characters of their hash. */
  async close(): Promise<ReadonlyMap<string, number>> {
    await this.monitor.close();
    return this.counts;
  }
}

/** What `during` counts beyond an idle product over the same time, by command and per unit. */
export function excess(
  during: ReadonlyMap<string, number>,
  idle: ReadonlyMap<string, number>,
  units: number,
): Map<string, number> {
  return new Map([...during].map(([name, count]) => [name, (count - (idle.get(name) ?? 0)) / units]));
}

/** Addresses of connections with this name, as MONITOR shows them. */
export async function getAddresses(redis: Redis, connectionName: string): Promise<Set<string>> {
  const list = String(await redis.client('LIST'));
  const named = list.split('\n').filter((line) => line.includes(` name=${connectionName} `));
  return new Set(named.flatMap((line) => / addr=(\S+)/.exec(line)?.[1] ?? []));
}
