import { eventually } from '@svc/testing';
import { Redis } from 'ioredis';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
/** From submission to success, of gateway and scheduler together. Each costs a job a fifth of a millisecond. */
const mostRoundTrips = 16;
const jobs = 20;

/** What connections and an idle queue cost does not grow with jobs. */
const idle = ['bzpopmin', 'client', 'hello', 'info', 'monitor', 'ping', 'quit', 'zcard'];

interface Seen {
  command: string;
  source: string;
  args: string[];
}

describe('the cost of one plain job in Redis', () => {
  it(`is at most ${mostRoundTrips} round trips`, async () => {
    await use.start({ withoutLoops: true });
    await use.rawWorker({ id: 'w1', max: 50, answers: () => ['SUCCEEDED'] });
    // Warm: scripts are loaded, config is read.
    await use.until(await use.submit(), 'SUCCEEDED');

    const client = new Redis(use.servers.redisUrl);
    const monitor = await client.monitor();
    const seen: Seen[] = [];
    monitor.on('monitor', (_at: string, [command = '', ...args]: string[], source: string) =>
      seen.push({ command: command.toLowerCase(), args, source }),
    );
    const ids: string[] = [];
    for (let i = 0; i < jobs; i++) ids.push(await use.submit());
    await eventually(async () => expect(await use.redis.zcard('{s0}:index:acme:SUCCEEDED')).toBe(jobs + 1));
    monitor.disconnect();
    client.disconnect();

    const ours = fromPrograms(seen);
    const perJob = ours.length / jobs;
    console.info(`Redis round trips of one plain job: ${perJob.toFixed(1)}\n${table(ours)}`);
    expect(perJob).toBeLessThanOrEqual(mostRoundTrips);
    // A budget that counts nothing holds anything.
    expect(perJob).toBeGreaterThan(3);
  });
});

/** Without what scripts do inside Redis, and the test's own question. */
const fromPrograms = (seen: readonly Seen[]): Seen[] =>
  seen.filter(({ command, source }) => source !== 'lua' && !idle.includes(command));

function table(seen: readonly Seen[]): string {
  const counts = new Map<string, number>();
  for (const { command, args } of seen) {
    const name = command.startsWith('eval') ? `${command} ${(args[0] ?? '').slice(0, 8)}` : command;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${(count / jobs).toFixed(1)} ${name}`).join('\n');
}
