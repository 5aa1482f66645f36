import { subjects } from '@svc/contract';
import { startWorkers } from '@svc/queues';
import { packetSignerFrom, sessionTokensFrom } from '@svc/identity';
import { queues } from '@svc/queues.config';
import {
  approvalMetrics,
  certificateGauges,
  commonMetrics,
  dispatchMetrics,
  kernelMetrics,
  openMetrics,
  runService,
  schedulerEnv,
  schedulerMetrics,
  type Boot,
  type SchedulerEnv,
} from '@svc/runtime';
import { openFleet } from '@svc/registry';
import { configUpkeep } from '@svc/config-admin';
import { openPlatform, openServiceKernel, startLoops, whenAvailable } from '@svc/platform';
import { WorkerRegistry } from '@svc/dispatch';
import { redisOptions } from '@svc/store';
import { buildContext } from './build-context';
import { openStoreAccess, openWorkerTrust, serveHandshakes } from '@svc/worker-trust';
import { startConsumers } from './consumers';
import { reportRefusedWorkers, reportStoreAccess, schedulingEvents } from './events';
import { queueHooks, readGauges } from './gauges';
import { schedulerLoops } from './loops';
import { openLaneArrivals } from './open-lane-arrivals';
import { processors } from './processors';

void runService({
  name: 'scheduler',
  purpose: 'Evaluates policy for jobs, routes and dispatches them, records and checks results, and repairs stuck jobs.',
  env: schedulerEnv,
  start,
});

async function start(boot: Boot<SchedulerEnv>): Promise<void> {
  const { env, log, health, clock, build, onStop } = boot;
  const opened = openMetrics(
    { ...schedulerMetrics, ...dispatchMetrics, ...approvalMetrics, ...commonMetrics, ...kernelMetrics },
    { pod: env.instanceId },
  );
  const { metrics } = opened;
  const signer = packetSignerFrom(env);
  metrics.buildInfo.set({ version: build.version }, 1);
  certificateGauges(opened, schedulerEnv, env, clock);
  const registry = new WorkerRegistry({ ttlMs: env.workerHeartbeatTtlMs, readinessTtlMs: env.workerReadinessTtlMs });
  const afterReconnect: (() => void)[] = [];
  const platform = await openPlatform(boot, {
    service: 'scheduler',
    queues,
    probes: { addr: env.metricsAddr, open: env.metricsPublic },
    metrics: opened,
    signer,
    onMalformed: (reason) => metrics.validationRejections.inc({ reason }),
    onDisconnected: () => registry.busDisconnected(),
    onReconnected: () => {
      registry.busConnected(clock.nowMs());
      for (const run of afterReconnect) run();
    },
  });
  const { store, bus } = platform;
  registry.busConnected(clock.nowMs());
  const snapshot = await whenAvailable(boot, 'store', () => store.workers.snapshot());
  if (snapshot) registry.warm(snapshot.workers, clock.nowMs());

  const { fleet, files } = await openFleet(boot, store, () => upkeep.fileChanged());
  const { kernel } = await openServiceKernel(boot, platform, metrics, {
    onBreakerTrip: (breaker) => metrics.circuitTrips.inc({ breaker }),
  });
  health.dependsOn('policy', async () => {
    const state = kernel.ready();
    if (!state.ok) throw new Error(state.reason);
  });
  const events = schedulingEvents(metrics, log, () => fleet.pools());
  const trust = await openWorkerTrust(boot, platform, reportRefusedWorkers(metrics, log));
  const access = await openStoreAccess(boot, platform, reportStoreAccess(metrics, log));
  afterReconnect.push(() => access.reconnected());
  serveHandshakes(boot, platform, {
    workers: trust,
    signer,
    tokens: sessionTokensFrom(env),
    domainPrefix: env.handshakeDomainPrefix,
    onHandshake: (outcome) => metrics.workerHandshakes.inc({ outcome }),
  });
  const ctx = buildContext(boot, { platform, registry, trust, fleet, kernel, events, metrics });
  const onNoticeFailed = (error: unknown) => log.warn('publishing a config change failed', { error });
  const upkeep = configUpkeep({ ...ctx, onNoticeFailed }, files, {
    onMoved: (bundles) => log.info('policy bundles moved from system/default to system/policy', { bundles }),
    onStays: () => log.error('bundles in system/default or system/policy are not a map; they were not moved'),
  });
  await openLaneArrivals(boot, (arrival) => ctx.laneDispatcher.dispatchFromLane(arrival));
  readGauges(opened, ctx);
  fleet.follow(ctx.config, (error) => log.warn('reloading pools and timeouts failed', { error }));
  bus.subscribe(subjects.configChanged, () => ctx.config.changed());

  onStop(
    'loops',
    startLoops(
      [
        ...schedulerLoops(ctx, store, {
          owner: platform.instance.id,
          snapshotEveryMs: env.workerSnapshotIntervalMs,
          scanEveryMs: fleet.timeouts().reconciler.scan_interval_seconds * 1_000,
          metaTtlSec: env.jobMetaTtlMs / 1_000,
          deadLettersKept: env.dlqMaxSize,
          onDrained: (pools) => log.info('pools are drained and inactive', { pools }),
          onNoticeFailed,
        }),
        { name: 'files', everyMs: 1_000, atStart: true, run: () => fleet.refresh() },
        { name: 'config', everyMs: 1_000, atStart: true, run: () => upkeep.run() },
      ],
      (loop, error) => log.oncePer(`loop:${loop}`, 10_000).warn('loop failed', { loop, error }),
    ),
  );
  const workers = startWorkers('scheduler', queues, processors, ctx, await redisOptions(env, 'worker'), {
    lockMs: env.queueLockMs,
    stalledCheckMs: env.queueStalledCheckMs,
    ...queueHooks(metrics),
    onFailed: (queue, entry, error) => log.warn('queue entry failed', { queue, entry, error }),
    onError: (queue, error) => log.oncePer(`queue:${queue}`, 10_000).warn('queue failed', { queue, error }),
  });
  onStop('queues', () => Promise.all(workers.map((worker) => worker.close())));
  const consumptions = startConsumers(bus, ctx, (subject, error) =>
    log.oncePer(`consumer:${subject}`, 10_000).warn('handling a message failed', { subject, error }),
  );
  onStop('consumers', () => Promise.all(consumptions.map((consumption) => consumption.stop())));
}
