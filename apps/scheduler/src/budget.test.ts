import { eventually, monitorCommands, type MonitoredCommand } from '@svc/testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
/** What `npm run bench` holds a job against as well, with gateway and rate limit: from submission to scanned success. */
const mostCalls = 10;
const mostCommands = 80;
const jobs = 200;

/** What connections and idle queues cost does not grow with jobs. */
const idle = ['bzpopmin', 'client', 'config', 'hello', 'info', 'monitor', 'ping', 'quit'];

describe('the cost of one job in Redis, while many are under way', () => {
  it(`is at most ${mostCalls} calls and ${mostCommands} commands, those inside scripts included`, async () => {
    await use.start({ withoutLoops: true });
    await use.worker({ id: 'w1', concurrency: 50 });
    // Warm: scripts are loaded, config is read.
    await use.until(await use.submit(), 'SUCCEEDED');

    const seen: MonitoredCommand[] = [];
    const monitor = await monitorCommands(use.servers.redisUrl, (command) => seen.push(command));
    await Promise.all(Array.from({ length: jobs }, () => use.submit()));
    // Asked seldom: the questions are counted too.
    await eventually(async () => expect(await use.redis.zcard('{s0}:index:acme:SUCCEEDED')).toBe(jobs + 1), {
      withinMs: 20_000,
      everyMs: 200,
    });
    await eventually(async () => expect(await use.redis.zcard('{s0}:output-scan:delayed')).toBe(0), { everyMs: 200 });
    await monitor.close();

    const counted = seen.filter(({ name }) => !idle.includes(name));
    const calls = counted.filter(({ from }) => from !== 'lua');
    console.info(
      `a job: ${perJob(calls)} calls, ${perJob(counted)} commands\ncalls\n${table(calls)}\nin scripts\n${table(
        counted.filter(({ from }) => from === 'lua'),
      )}`,
    );
    expect(perJob(calls)).toBeLessThanOrEqual(mostCalls);
    expect(perJob(counted)).toBeLessThanOrEqual(mostCommands);
    // A budget that counts nothing holds anything.
    expect(perJob(calls)).toBeGreaterThan(2);
    expect(perJob(counted)).toBeGreaterThan(20);
  }, 60_000);
});

const perJob = (seen: readonly MonitoredCommand[]): number => Math.round((10 * seen.length) / jobs) / 10;

function table(seen: readonly MonitoredCommand[]): string {
  const counts = new Map<string, number>();
  for (const { name } of seen) counts.set(name, (counts.get(name) ?? 0) + 1);
  const most = [...counts].sort(([, a], [, b]) => b - a);
  return most.map(([name, count]) => `  ${(count / jobs).toFixed(1)} ${name}`).join('\n');
}
