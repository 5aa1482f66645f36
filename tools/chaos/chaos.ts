import { setTimeout as sleep } from 'node:timers/promises';
import { isTerminal } from '@svc/lifecycle';
import { eventually } from '@svc/testing';
import { coreServices, kernelService } from '../stack/settings';
import { startLyingWorker, startSlowWorker, startWorkerProcesses } from './chaos-workers';
import { closeAll, cutDetour, startCutProxy, type CutProxy } from './cut-proxy';
import { Storm, type Struck, type Victims } from './faults';
import type { Call, History, JobHistory, Outage, Violation } from './history';
import { violations } from './invariants';
import { Load } from './load';
import { nameLeftPasses, readHistory, readLeft } from './read-history';
import { seeded } from './seeded';
import { timersFired, type Fired } from './timer-invariants';
import { UnaskedEnds } from './unasked-ends';
import { attestationEnv, WorkerCredentials } from './worker-credentials';
import { putWorkflows } from './workflows';
import { trackOutage, startWorld, type World } from './world';

export interface ChaosOptions {
  seed: number;
  minutes: number;
  jobsPerSec?: number;
  /** Names of faults that are injected first, also when the time is over before. */
  first?: readonly string[];
  say(text: string): void;
  /** Lines of the services' logs. */
  onLine?(service: string, line: string): void;
}

export interface ChaosReport {
  seed: number;
  minutes: number;
  /** Jobs acknowledged to a client, by final state. They add up to `accepted`. */
  ended: Record<string, number>;
  accepted: number;
  /** All records: accepted jobs, jobs rejected at submission, and jobs whose response was lost. */
  records: number;
  dispatches: number;
  /** All runs, by final status. */
  runs: Record<string, number>;
  /** Timers that fired, the longest delay, and the longest delay without outages of engine and Redis, ms. */
  timers: { fired: number; latestMs: number; latestUnexcusedMs: number };
  /** Calls of clients by response status and code; 0 = no response. */
  answers: Record<string, number>;
  faults: Record<string, number>;
  /** Time from the last fault until all jobs ended, ms. */
  settledMs: number;
  violations: Violation[];
  repeatWith: string;
}

const settleWithinMs = 180_000;
const workerIds = ['chaos-1', 'chaos-2', 'chaos-3'] as const;
const progressEveryMs = 10_000;

/** Runs clients and faults against real processes for a while, then checks the invariants. A seed determines the faults. */
export async function runChaos({
  seed,
  minutes,
  jobsPerSec = 25,
  first,
  say,
  onLine,
}: ChaosOptions): Promise<ChaosReport> {
  const ways: CutProxy[] = [];
  const ends = new UnaskedEnds(say);
  // In two of four runs, since attestation refuses some of the results that a lying worker forges.
  const isAttested = seed % 4 >= 2;
  const world = await startWorld({
    env: isAttested ? attestationEnv : {},
    // With a kernel process for every other seed: its breaker opens for 30 s and masks other faults.
    services: seed % 2 === 0 ? [kernelService, ...coreServices] : coreServices,
    ...(onLine && { onLine }),
    onUnaskedEnd: (end) => ends.addService(end),
    detour: cutDetour(ways),
  });
  await putWorkflows(world);
  const workerWays = await Promise.all([
    startCutProxy('redis', world.redis.port),
    startCutProxy('nats', world.nats.port),
  ]);
  ways.push(...workerWays);
  const [workerRedis, workerNats] = workerWays;
  const credentials = isAttested ? new WorkerCredentials(world, 'chaos') : undefined;
  const workers = await startWorkerProcesses(
    workerIds,
    { redis: workerRedis.url, nats: workerNats.url },
    { onUnaskedEnd: (end) => ends.addWorker(end), ...(credentials && { envs: await credentials.withKeys(workerIds) }) },
  );
  const oddRandom = seeded(seed + 2);
  const odd = [
    await startSlowWorker(world, oddRandom, await credentials?.write('slow')),
    await startLyingWorker(world, oddRandom, await credentials?.write('liar')),
  ];
  try {
    const services = [...world.services.values()].map(({ process }) => process);
    const load = new Load(world, { jobsPerSec, random: seeded(seed + 1) });
    const engine = world.service('engine');
    const outages: Outage[] = [];
    // No timer fires without these; during every other fault timers must be on time.
    const firesTimers: readonly Struck[] = [
      engine.process,
      world.redis,
      ...selectProxies(ways, world, 'engine').slice(0, 1),
    ];
    const storm = new Storm(
      {
        ...victims(world, services, workers, ways),
        clocks: [engine.clock],
        admin: world.client('admin'),
        ...(credentials && { credentials }),
      },
      seeded(seed),
      say,
      (fromMs, whom) =>
        whom.some((one) => firesTimers.includes(one)) && outages.push(trackOutage(engine.process, fromMs)),
      first,
    );
    load.start();
    storm.start();
    await letRage(world, load, minutes, say);
    await storm.stop();
    say('fault phase ended; waiting for clients and jobs');
    const stormEndedMs = Date.now();
    await Promise.all([...services, ...workers].map((process) => process.untilReady()));
    await load.stop();
    const late = [...(await settle(world)), ...(await findLostSessions(credentials))];
    const settledMs = Date.now() - stormEndedMs;
    const history = await readHistory(world, outages);
    return report({
      seed,
      minutes,
      history,
      faults: storm.struck,
      settledMs,
      late: [...late, ...ends.violations, ...storm.complaints.map(complaint)],
    });
  } finally {
    await Promise.all(odd.map((worker) => worker.stop()));
    await Promise.all(workers.map((worker) => worker.stop(2_000, 'SIGKILL')));
    await world.stop();
    await closeAll(workerWays);
  }
}

/** Proxies of one service, to Redis and to the bus; the list is in the order of the services. */
function selectProxies(ways: readonly CutProxy[], { services }: World, name: string): readonly CutProxy[] {
  const place = 2 * [...services.keys()].indexOf(name);
  return ways.slice(place, place + 2);
}

function victims(
  { redis, nats }: World,
  services: Victims['services'][number][],
  workers: Victims['workers'][number][],
  ways: CutProxy[],
): Omit<Victims, 'clocks' | 'admin' | 'credentials'> {
  const some = <T>([first, ...rest]: T[]): [T, ...T[]] => {
    if (first === undefined) throw new Error('no target for faults');
    return [first, ...rest];
  };
  return { services: some(services), workers: some(workers), redis, nats, ways: some(ways) };
}

async function letRage(world: World, load: Load, minutes: number, say: (text: string) => void): Promise<void> {
  const endMs = Date.now() + minutes * 60_000;
  while (Date.now() < endMs) {
    await sleep(Math.min(progressEveryMs, Math.max(0, endMs - Date.now())));
    const accepted = world.calls.filter(({ act, outcome }) => act === 'submit' && outcome === 'ok').length;
    say(`${load.begun} clients, ${accepted} acceptances, ${load.waiting} clients waiting`);
  }
}

/** Waits until no work is left; the checkers report the rest. */
async function settle({ store }: World): Promise<Violation[]> {
  let left: Record<string, number> = {};
  try {
    await eventually(
      async () => {
        left = await readLeft(store, 0);
        return Object.values(left).every((count) => count === 0);
      },
      { withinMs: settleWithinMs, everyMs: 500 },
    );
    return [];
  } catch {
    const rest = [JSON.stringify(left), ...(await nameLeftPasses(store))].join(', ');
    return [{ invariant: 'I15', jobId: '', text: `not settled after ${settleWithinMs} ms: ${rest}` }];
  }
}

/** After the faults every worker has proven its key again. */
async function findLostSessions(credentials: WorkerCredentials | undefined): Promise<Violation[]> {
  try {
    await credentials?.allHaveSessions();
    return [];
  } catch (error) {
    return [{ invariant: 'sessions', jobId: '', text: error instanceof Error ? error.message : String(error) }];
  }
}

const complaint = (text: string): Violation => ({ invariant: 'exit', jobId: '', text });

interface Findings {
  seed: number;
  minutes: number;
  history: History;
  faults: Record<string, number>;
  settledMs: number;
  late: Violation[];
}

function report({ seed, minutes, history, faults, settledMs, late }: Findings): ChaosReport {
  const { calls, jobs, dispatches } = history;
  const accepted = [...new Set(calls.flatMap(acceptedBy))];
  const ended = countBy(accepted, (id) => describeEnd(jobs.get(id)));
  const crashes = calls.filter(({ status }) => status === 500);
  return {
    seed,
    minutes,
    accepted: accepted.length,
    ended,
    records: jobs.size,
    dispatches: dispatches.length,
    runs: countBy([...history.runs.values()], ({ run }) => `${run.workflow_id} ${run.status}`),
    timers: summarizeTimers(timersFired(history)),
    answers: countBy(calls, ({ status, code }) => `${status} ${code}`.trim()),
    faults,
    settledMs,
    violations: [
      ...late,
      ...violations(history),
      ...crashes.map(({ act, jobId }) => ({ invariant: 'I10', jobId, text: `${act} returned 500` })),
    ],
    repeatWith: `npm run chaos -- --seed ${seed} --minutes ${minutes}`,
  };
}

const summarizeTimers = (fired: readonly Fired[]): ChaosReport['timers'] => ({
  fired: fired.length,
  latestMs: Math.max(0, ...fired.map(({ lateMs }) => lateMs)),
  latestUnexcusedMs: Math.max(0, ...fired.map(({ unexcusedMs }) => unexcusedMs)),
});

const acceptedBy = ({ outcome, act, jobId, newJobId }: Call): string[] =>
  outcome !== 'ok' ? [] : act === 'submit' ? [jobId] : newJobId ? [newJobId] : [];

const describeEnd = (job: JobHistory | undefined): string => {
  if (!job?.record) return 'lost';
  return isTerminal(job.record.state) ? job.record.state : 'open';
};

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1;
  return counts;
}
