import type { Redis } from 'ioredis';
import { connect, type Socket } from 'node:net';

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
 * Counts what clients ask of Redis, by command: `total_commands_processed` and `commandstats` also count what scripts do
 * inside, and nothing in INFO tells the two apart. It reads MONITOR without making an object of each line, and it slows
 * Redis down, so nothing is timed meanwhile.
 */
export class CallCounter {
  private readonly counts = new Map<string, number>();
  private rest = '';

  private constructor(
    private readonly socket: Socket,
    private readonly ignored: ReadonlySet<string>,
  ) {}

  /** @param ignored addresses (`host:port`) of the bench's own connections */
  static async open(redisUrl: string, ignored: ReadonlySet<string>): Promise<CallCounter> {
    const socket = connect(Number(new URL(redisUrl).port), '127.0.0.1');
    const counter = new CallCounter(socket, ignored);
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('data', () => resolve());
      socket.write('MONITOR\r\n');
    });
    socket.on('data', (data) => counter.read(data.toString('latin1')));
    return counter;
  }

  /** What was counted, by command; the first eight characters of a script's hash tell scripts apart. */
  close(): Map<string, number> {
    this.socket.destroy();
    return this.counts;
  }

  private read(text: string): void {
    const lines = (this.rest + text).split('\r\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      const call = callOf(line);
      if (call && !this.ignored.has(call.from)) this.counts.set(call.name, (this.counts.get(call.name) ?? 0) + 1);
    }
  }
}

/** Line breaks inside arguments are escaped, so a line is a call: `+<time> [<db> <from>] "<command>" "<argument>" ...`. */
export function callOf(line: string): { from: string; name: string } | undefined {
  const parts = /^\+[\d.]+ \[\d+ ([^\]]+)\] "([^"]+)"(?: "([^"]{0,8}))?/.exec(line);
  if (!parts) return undefined;
  const [, from = '', command = '', argument = ''] = parts;
  if (from === 'lua') return undefined;
  const name = command.toLowerCase();
  return { from, name: name === 'evalsha' ? `${name} ${argument}` : name };
}

/** Addresses of connections with this name, as MONITOR shows them. */
export async function addressesOf(redis: Redis, connectionName: string): Promise<Set<string>> {
  const list = String(await redis.client('LIST'));
  const named = list.split('\n').filter((line) => line.includes(` name=${connectionName} `));
  return new Set(named.flatMap((line) => / addr=(\S+)/.exec(line)?.[1] ?? []));
}
