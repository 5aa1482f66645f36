import { openKernel, kernelSettings } from '@svc/kernel-client';
import { startWorkers } from '@svc/queues';
import { queues } from '@svc/queues.config';
import { defaultTimeouts, type PoolTable, type TimeoutTable } from '@svc/routing';
import {
  approvalMetrics,
  commonMetrics,
  dispatchMetrics,
  engineEnv,
  engineMetrics,
  Health,
  kernelMetrics,
  openMetrics,
  readEnv,
  silentLogger,
  systemClock,
  type Boot,
  type EngineEnv,
} from '@svc/runtime';
import { openWorkerTrust } from '@svc/worker-trust';
import { followWorkers, openRegistry, type WorkerRegistry } from '@svc/dispatch';
import { openEndings, openPlatform, type Platform, startLoops } from '@svc/platform';
import { redisOptions } from '@svc/store';
import { join } from 'node:path';
import { buildContext } from './build-context';
import type { EngineContext } from './context';
import { runEvents } from './events';
import { engineLoops } from './loops';
import { openRunWakes } from './open-run-wakes';
import { processors } from './processors';

/** Options of an engine in a test. */
export interface EnginePlan {
  env?: Partial<EngineEnv>;
  timeouts?: Partial<TimeoutTable>;
  pools?: PoolTable;
  /** Builds the context only, without queue workers and loops. */
  idle?: boolean;
  withoutLoops?: boolean;
  /** Takes no queue entries: runs proceed by notifications only. */
  withoutQueues?: boolean;
  /** Offset of its clock, ms. */
  aheadMs?: number;
}

/** A running engine on real Redis, NATS and kernel. */
export interface Engine {
  readonly ctx: EngineContext;
  readonly platform: Platform;
  /** The engine's view of live workers. */
  readonly registry: WorkerRegistry;
  /** Errors thrown by loops and queue workers. */
  readonly defects: unknown[];
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

const config = (file: string) => join(__dirname, '../../../config', file);
const loopMs = 100;
/** Of the scheduler that the tests start. */
const onePool: PoolTable = {
  topics: { 'job.*': ['main'] },
  pools: { main: { name: 'main', requires: [], status: 'active', description: '' } },
};
let started = 0;

/** Starts an engine like `main.ts`, with short periods. */
export async function startEngine(
  around: { redisUrl: string; natsUrl: string; policyPath?: string },
  plan: EnginePlan = {},
): Promise<Engine> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of stops.reverse().splice(0)) await step();
  };
  const real = systemClock();
  const { aheadMs = 0 } = plan;
  const clock = {
    ...real,
    nowMs: () => real.nowMs() + aheadMs,
    nowUs: () => real.nowUs() + aheadMs * 1_000,
  };
  const env: EngineEnv = {
    ...readEnv(engineEnv, {
      REDIS_URL: around.redisUrl,
      NATS_URL: around.natsUrl,
      WORKFLOW_ENGINE_HTTP_ADDR: '127.0.0.1:0',
      SVC_INSTANCE_ID: `engine-${(started += 1)}`,
      SAFETY_POLICY_PATH: around.policyPath ?? config('safety.yaml'),
      OUTPUT_SCANNERS_PATH: config('output_scanners.yaml'),
      SAFETY_DECISION_CACHE_TTL: '0',
    }).values,
    ...plan.env,
  };
  const boot: Boot<EngineEnv> = {
    env,
    log: silentLogger,
    health: new Health({ clock }),
    clock,
    build: { version: '0.0.0', commit: 'c', date: '', protocol: 1 },
    stopping: new AbortController().signal,
    onStop: (_name, step) => void stops.push(step),
  };
  try {
    const opened = openMetrics(
      {
        ...engineMetrics,
        ...dispatchMetrics,
        approvalsExpired: approvalMetrics.approvalsExpired,
        ...commonMetrics,
        ...kernelMetrics,
      },
      { pod: env.instanceId },
    );
    const platform = await openPlatform(boot, {
      service: 'engine',
      queues,
      probes: { addr: env.httpAddr, open: false },
      metrics: opened,
    });
    const registry = openRegistry(env);
    await followWorkers(boot, platform, registry, await openWorkerTrust(boot, platform));
    const kernel = await openKernel(kernelSettings(env), { redis: platform.store.redis, log: silentLogger, clock });
    stops.push(() => kernel.close());
    const timeouts: TimeoutTable = { ...defaultTimeouts, ...plan.timeouts };
    const fleet = { pools: () => plan.pools ?? onePool, timeouts: () => timeouts };
    const { metrics } = opened;
    const ctx = buildContext(boot, {
      platform,
      fleet,
      registry,
      endings: await openEndings(boot),
      kernel,
      events: runEvents(metrics, silentLogger),
      metrics,
    });
    const defects: unknown[] = [];
    const failed = (what: string, error: unknown) => void defects.push([what, error]);
    if (!plan.idle && !plan.withoutLoops) {
      const loops = engineLoops(ctx, {
        owner: platform.instance.id,
        scanEveryMs: loopMs,
        scanLimit: 200,
        pollEveryMs: loopMs,
      });
      stops.push(
        startLoops(
          loops.map((loop) => ({ ...loop, everyMs: Math.min(loop.everyMs, loopMs) })),
          failed,
        ),
      );
    }
    if (!plan.idle && !plan.withoutQueues) {
      const workers = startWorkers('engine', queues, processors, ctx, await redisOptions(env, 'worker'), {
        lockMs: env.queueLockMs,
        stalledCheckMs: env.queueStalledCheckMs,
        onFailed: (queue, entry, error) => failed(`${queue} ${entry ?? ''}`, error),
        onError: (queue, error) => failed(queue, error),
      });
      stops.push(() => Promise.all(workers.map((worker) => worker.close())));
    }
    if (!plan.idle) await openRunWakes(boot, ctx);
    return { ctx, platform, registry, defects, metrics: () => opened.text(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
