import type { Bus } from '@svc/bus';
import { packetSignerFrom, sessionTokensFrom, tiers } from '@svc/identity';
import { kernelSettings, openKernel, type Kernel } from '@svc/kernel-client';
import { startWorkers } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { defaultTimeouts, type PoolTable, type TimeoutTable } from '@svc/routing';
import {
  approvalMetrics,
  commonMetrics,
  dispatchMetrics,
  Health,
  kernelMetrics,
  openMetrics,
  readEnv,
  schedulerEnv,
  schedulerMetrics,
  silentLogger,
  systemClock,
  type Boot,
  type SchedulerEnv,
} from '@svc/runtime';
import { openPlatform, type Platform, startLoops } from '@svc/platform';
import { type SchedulingEvents, WorkerRegistry } from '@svc/dispatch';
import { redisOptions } from '@svc/store';
import { eventually } from '@svc/testing';
import { join } from 'node:path';
import { buildContext } from './build-context';
import { openWorkerTrust, serveHandshakes } from '@svc/worker-trust';
import { startConsumers } from './consumers';
import type { SchedulerContext } from './context';
import { reportRefusedWorkers, schedulingEvents } from './events';
import { schedulerLoops } from './loops';
import { openLaneArrivals } from './open-lane-arrivals';
import { queueHooks, readGauges } from './gauges';
import { processors } from './processors';

/** Options of a scheduler in a test. */
export interface SchedulerPlan {
  pools?: PoolTable;
  timeouts?: Partial<TimeoutTable>;
  env?: Partial<SchedulerEnv>;
  /** Unlimited by default. */
  plan?: 'community' | 'enterprise';
  /** Builds the context only, without consumers, loops and queue workers. */
  idle?: boolean;
  /** Starts no loops, so that only wake-ups trigger work. */
  withoutLoops?: boolean;
}

/** Kernel calls that currently fail. */
export type Broken = Set<'check' | 'checkOutput'>;

/** A running scheduler on real Redis, NATS and kernel. */
export interface Scheduler {
  readonly ctx: SchedulerContext;
  readonly platform: Platform;
  readonly bus: Bus;
  /** Calls of each event, in order, as name and first argument. */
  readonly events: [name: keyof SchedulingEvents, ...args: unknown[]][];
  /** Errors thrown by consumers, loops and queue workers. */
  readonly defects: unknown[];
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** The context with its clock this far ahead. */
  later(ms: number): SchedulerContext;
  stop(): Promise<void>;
}

export interface SchedulerSettings {
  redisUrl: string;
  natsUrl: string;
  policyPath: string;
  broken: Broken;
}

const loopMs = 100;
const scannersPath = join(__dirname, '../../../config/output_scanners.yaml');
let started = 0;

/** One pool that serves every topic of the tests. */
export const onePool: PoolTable = {
  topics: { 'job.>': ['main'] },
  pools: { main: { name: 'main', requires: [], status: 'active', description: '' } },
};

/** Starts a scheduler like `main.ts`, with short periods and a kernel whose calls can be made to fail. */
export async function startScheduler(around: SchedulerSettings, plan: SchedulerPlan = {}): Promise<Scheduler> {
  const stops: { name: string; step: () => unknown }[] = [];
  const stop = async () => {
    for (const { step } of stops.reverse().splice(0)) await step();
  };
  try {
    return { ...(await startParts(around, plan, (name, step) => void stops.push({ name, step }))), stop };
  } catch (error) {
    // Open handles would keep the test run from ending.
    await stop();
    throw error;
  }
}

async function startParts(
  around: SchedulerSettings,
  plan: SchedulerPlan,
  onStop: Boot<SchedulerEnv>['onStop'],
): Promise<Omit<Scheduler, 'stop'>> {
  const env = { ...readSchedulerEnv(around), ...plan.env };
  const clock = systemClock();
  const build = { version: '0.0.0', commit: 'c', date: '', protocol: 1 };
  const boot: Boot<SchedulerEnv> = {
    env,
    log: silentLogger,
    health: new Health({ clock }),
    clock,
    build,
    stopping: new AbortController().signal,
    onStop,
  };
  const opened = openMetrics(
    { ...schedulerMetrics, ...dispatchMetrics, ...approvalMetrics, ...commonMetrics, ...kernelMetrics },
    { pod: env.instanceId },
  );
  const registry = new WorkerRegistry({ ttlMs: env.workerHeartbeatTtlMs, readinessTtlMs: env.workerReadinessTtlMs });
  const real = await openPlatform(boot, {
    service: 'scheduler',
    queues,
    probes: { addr: env.metricsAddr, open: false },
    metrics: opened,
    signer: packetSignerFrom(env),
    onMalformed: (reason) => opened.metrics.validationRejections.inc({ reason }),
    onDisconnected: () => registry.busDisconnected(),
    onReconnected: () => registry.busConnected(clock.nowMs()),
  });
  const entitlements = tiers[plan.plan ?? 'enterprise'];
  const platform: Platform = { ...real, license: { ...real.license, entitlements: () => entitlements } };
  registry.busConnected(clock.nowMs());
  const settings = kernelSettings(env);
  const kernel = await openKernel(
    { ...settings, local: { ...settings.local, reloadIntervalMs: 50 } },
    { redis: platform.store.redis, log: silentLogger, clock },
  );
  onStop('kernel', () => kernel.close());
  const trust = await openWorkerTrust(boot, platform, reportRefusedWorkers(opened.metrics, silentLogger));
  serveHandshakes(boot, platform, {
    workers: trust,
    signer: packetSignerFrom(env),
    tokens: sessionTokensFrom(env),
    domainPrefix: env.handshakeDomainPrefix,
    onHandshake: (outcome) => opened.metrics.workerHandshakes.inc({ outcome }),
  });
  const pools = plan.pools ?? onePool;
  const timeouts: TimeoutTable = { ...defaultTimeouts, ...plan.timeouts };
  const events: Scheduler['events'] = [];
  const ctx = buildContext(boot, {
    platform,
    registry,
    trust,
    fleet: { pools: () => pools, timeouts: () => timeouts },
    kernel: breakable(kernel, around.broken),
    events: recorded(
      schedulingEvents(opened.metrics, silentLogger, () => pools),
      events,
    ),
    metrics: opened.metrics,
  });
  const defects: unknown[] = [];
  if (!plan.idle) await run(boot, { ctx, platform, plan, defects, metrics: opened.metrics });
  readGauges(opened, ctx);
  return {
    ctx,
    platform,
    bus: platform.bus,
    events,
    defects,
    metrics: () => opened.text(),
    later: (ms) => ({
      ...ctx,
      clock: { ...clock, nowMs: () => clock.nowMs() + ms, nowUs: () => clock.nowUs() + ms * 1_000 },
    }),
  };
}

interface Running {
  ctx: SchedulerContext;
  platform: Platform;
  plan: SchedulerPlan;
  defects: unknown[];
  metrics: Parameters<typeof queueHooks>[0];
}

async function run(boot: Boot<SchedulerEnv>, { ctx, platform, plan, defects, metrics }: Running): Promise<void> {
  const { env, onStop } = boot;
  const { store, bus, instance } = platform;
  const failed = (what: string, error: unknown) => void defects.push([what, error]);
  const loops = schedulerLoops(ctx, store, {
    owner: instance.id,
    snapshotEveryMs: loopMs,
    scanEveryMs: loopMs,
    metaTtlSec: 3_600,
    deadLettersKept: env.dlqMaxSize,
    onDrained: () => undefined,
    onNoticeFailed: (error) => failed('notice', error),
  });
  const quick = loops.map((loop) => ({ ...loop, everyMs: Math.min(loop.everyMs, loopMs) }));
  if (!plan.withoutLoops) onStop('loops', startLoops(quick, failed));
  await openLaneArrivals(boot, (arrival) => ctx.laneDispatcher.dispatchFromLane(arrival));
  const workers = startWorkers('scheduler', queues, processors, ctx, await redisOptions(env, 'worker'), {
    ...queueHooks(metrics),
    onFailed: (queue, entry, error) => failed(`${queue} ${entry ?? ''}`, error),
    onError: (queue, error) => failed(queue, error),
  });
  onStop('queues', () => Promise.all(workers.map((worker) => worker.close())));
  const consumptions = startConsumers(bus, ctx, failed);
  onStop('consumers', () => Promise.all(consumptions.map((consumption) => consumption.stop())));
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  // Heartbeats are not stored: the subscriptions must be active before any worker starts.
  await bus.flush();
}

const readSchedulerEnv = ({ redisUrl, natsUrl, policyPath }: SchedulerSettings): SchedulerEnv =>
  readEnv(schedulerEnv, {
    REDIS_URL: redisUrl,
    NATS_URL: natsUrl,
    SCHEDULER_METRICS_ADDR: '127.0.0.1:0',
    SVC_INSTANCE_ID: `test-${(started += 1)}`,
    SAFETY_POLICY_PATH: policyPath,
    OUTPUT_SCANNERS_PATH: scannersPath,
    OUTPUT_POLICY_ENABLED: 'true',
    SAFETY_DECISION_CACHE_TTL: '0',
  }).values;

/** A kernel whose calls in `broken` fail. */
function breakable(kernel: Kernel, broken: Broken): Kernel {
  const unless = <T>(what: 'check' | 'checkOutput', ask: () => Promise<T>): Promise<T> =>
    broken.has(what) ? Promise.reject(new Error(`${what}: no answer`)) : ask();
  return {
    check: (request) => unless('check', () => kernel.check(request)),
    evaluate: (request) => kernel.evaluate(request),
    explain: (request) => kernel.explain(request),
    simulate: (...asked) => kernel.simulate(...asked),
    listSnapshots: () => kernel.listSnapshots(),
    checkOutput: (request) => unless('checkOutput', () => kernel.checkOutput(request)),
    ready: () => kernel.ready(),
    breakers: () => kernel.breakers(),
    close: () => kernel.close(),
  };
}

/** Records each call before it is made. */
const recorded = (events: SchedulingEvents, calls: Scheduler['events']): SchedulingEvents =>
  new Proxy(events, {
    get(target, name: keyof SchedulingEvents) {
      const call = target[name] as (...args: unknown[]) => void;
      return (...args: unknown[]) => {
        calls.push([name, ...args]);
        call(...args);
      };
    },
  });

/** Resolves once another policy is in effect. */
export const policyChanged = (kernel: Kernel, before: string | undefined) =>
  eventually(async () => (await kernel.listSnapshots())[0] !== before);
