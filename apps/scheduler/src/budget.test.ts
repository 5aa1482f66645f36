import { eventually, monitorCommands, type MonitoredCommand } from '@svc/testing';
import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
/** Limits from submission to scanned success; `npm run bench` checks the same with gateway and rate limiting. */
const maxCalls = 10;
const maxCommands = 80;
/** The same for jobs that the accepting call dispatches. */
const maxPlacedCalls = 6;
const maxPlacedCommands = 48;
const jobs = 200;

/** Commands of connections and idle queues, whose number does not grow with jobs. */
const idle = ['bzpopmin', 'client', 'config', 'hello', 'info', 'monitor', 'ping', 'quit'];

describe('the cost of one job in Redis while many are in progress', () => {
  it(`is at most ${maxCalls} calls and ${maxCommands} commands, those inside scripts included`, async () => {
    await use.start({ withoutLoops: true });
    await use.worker({ id: 'w1', concurrency: 50 });

    const cost = await getCost(() => use.submit());

    expect(cost.calls).toBeLessThanOrEqual(maxCalls);
    expect(cost.commands).toBeLessThanOrEqual(maxCommands);
  }, 90_000);

  it(`is at most ${maxPlacedCalls} calls and ${maxPlacedCommands} commands for jobs placed at submission`, async () => {
    await use.start({ withoutLoops: true });
    await use.worker({ id: 'w1', concurrency: jobs });
    const { placement, knows } = await use.gateway();
    await knows('w1');

    const cost = await getCost(() => use.place(placement));

    expect(cost.calls).toBeLessThanOrEqual(maxPlacedCalls);
    expect(cost.commands).toBeLessThanOrEqual(maxPlacedCommands);
  }, 90_000);
});

/** Calls and commands for each of many concurrent jobs, from submission to scanned success. */
async function getCost(submit: () => Promise<string>): Promise<{ calls: number; commands: number }> {
  // Warm-up: loads scripts and config.
  await use.until(await submit(), 'SUCCEEDED');

  const observer = new Redis(use.servers.redisUrl);
  const ownAddress = / addr=(\S+)/.exec(String(await observer.client('INFO')))?.[1];
  const commandsDuring = async (work: () => Promise<unknown>): Promise<MonitoredCommand[]> => {
    const seen: MonitoredCommand[] = [];
    const monitor = await monitorCommands(use.servers.redisUrl, (command) => seen.push(command));
    await work();
    await monitor.close();
    return seen.filter(({ name, from }) => !idle.includes(name) && from !== ownAddress);
  };
  const startedMs = performance.now();
  const loaded = await commandsDuring(async () => {
    await Promise.all(Array.from({ length: jobs }, submit));
    await eventually(async () => expect(await observer.zcard('{s0}:index:acme:SUCCEEDED')).toBe(jobs + 1), {
      withinMs: 30_000,
      everyMs: 50,
    });
    await eventually(async () => expect(await observer.zcard('{s0}:output-scan:delayed')).toBe(0), { everyMs: 50 });
  });
  // Subtracts heartbeats and polling, which depend on elapsed time rather than on the number of jobs.
  const background = await commandsDuring(() => sleep(performance.now() - startedMs));
  observer.disconnect();

  const calls = perJob(loaded.filter(isCall)) - perJob(background.filter(isCall));
  const commands = perJob(loaded) - perJob(background);
  console.info(
    `a job: ${calls.toFixed(1)} calls, ${commands.toFixed(1)} commands\ncalls\n${table(loaded.filter(isCall))}\nin scripts\n${table(
      loaded.filter((command) => !isCall(command)),
    )}\nbackground, already subtracted\n${table(background)}`,
  );
  // Guards against a monitor that records nothing.
  expect(calls).toBeGreaterThan(2);
  expect(commands).toBeGreaterThan(20);
  return { calls, commands };
}

const isCall = ({ from }: MonitoredCommand): boolean => from !== 'lua';
const perJob = (seen: readonly MonitoredCommand[]): number => seen.length / jobs;

function table(seen: readonly MonitoredCommand[]): string {
  const counts = new Map<string, number>();
  for (const { name } of seen) counts.set(name, (counts.get(name) ?? 0) + 1);
  const most = [...counts].sort(([, a], [, b]) => b - a);
  return most.map(([name, count]) => `  ${(count / jobs).toFixed(1)} ${name}`).join('\n');
}
