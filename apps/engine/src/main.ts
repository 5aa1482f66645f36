import { subjects } from '@svc/contract';
import { startWorkers } from '@svc/queues';
import { packetSignerFrom } from '@svc/identity';
import { queues } from '@svc/queues.config';
import {
  approvalMetrics,
  auditMetrics,
  certificateGauges,
  commonMetrics,
  dispatchMetrics,
  engineEnv,
  engineMetrics,
  kernelMetrics,
  openMetrics,
  runService,
  type Boot,
  type EngineEnv,
} from '@svc/runtime';
import { openAudit, openAuditExport } from '@svc/audit';
import { followWorkers, openRegistry } from '@svc/dispatch';
import { openFleet } from '@svc/registry';
import { openWorkerTrust } from '@svc/worker-trust';
import { openEndings, openPlatform, openServiceKernel, startLoops } from '@svc/platform';
import { redisOptions } from '@svc/store';
import { buildContext } from './build-context';
import { decisionLoop } from './decision-loop';
import { runEvents } from './events';
import { queueHooks, readGauges } from './gauges';
import { engineLoops } from './loops';
import { openRunWakes } from './open-run-wakes';
import { processors } from './processors';

void runService({
  name: 'engine',
  purpose: 'Executes workflow runs: evaluates steps, submits their jobs, and handles timers, approvals and child runs.',
  env: engineEnv,
  start,
});

async function start(boot: Boot<EngineEnv>): Promise<void> {
  const { env, log, health, clock, build, onStop } = boot;
  const opened = openMetrics(
    {
      ...engineMetrics,
      ...dispatchMetrics,
      approvalsExpired: approvalMetrics.approvalsExpired,
      ...commonMetrics,
      ...kernelMetrics,
      ...auditMetrics,
    },
    { pod: env.instanceId },
  );
  const { metrics } = opened;
  metrics.buildInfo.set({ version: build.version }, 1);
  certificateGauges(opened, engineEnv, env, clock);
  const registry = openRegistry(env);
  const platform = await openPlatform(boot, {
    service: 'engine',
    queues,
    probes: { addr: env.httpAddr, open: env.metricsPublic },
    metrics: opened,
    signer: packetSignerFrom(env),
    onDisconnected: () => registry.busDisconnected(),
    onReconnected: () => registry.busConnected(clock.nowMs()),
  });
  const trust = await openWorkerTrust(boot, platform);
  await followWorkers(boot, platform, registry, trust);
  const { fleet } = await openFleet(boot, platform.store);
  const { kernel } = await openServiceKernel(boot, platform, metrics);
  health.dependsOn('policy', async () => {
    const state = kernel.ready();
    if (!state.ok) throw new Error(state.reason);
  });
  const audit = await openAudit(boot, { ...platform, metrics });
  const auditExport = openAuditExport(boot, { ...platform, metrics, audit });
  const ctx = buildContext(boot, {
    platform,
    fleet,
    registry,
    endings: await openEndings(boot),
    kernel,
    events: runEvents(metrics, log),
    metrics,
  });
  readGauges(opened, ctx);
  fleet.follow(ctx.config, (error) => log.warn('reloading pools and timeouts failed', { error }));
  platform.bus.subscribe(subjects.configChanged, () => ctx.config.changed());
  onStop(
    'loops',
    startLoops(
      [
        ...engineLoops(ctx, {
          owner: platform.instance.id,
          scanEveryMs: env.scanIntervalMs,
          scanLimit: env.runScanLimit,
          pollEveryMs: env.timerPollMs,
        }),
        ...audit.loops(platform.instance.id),
        ...auditExport.loops(platform.instance.id),
        decisionLoop(boot, platform),
        { name: 'files', everyMs: 1_000, atStart: true, run: () => fleet.refresh() },
      ],
      (loop, error) => log.oncePer(`loop:${loop}`, 10_000).warn('loop failed', { loop, error }),
    ),
  );
  const workers = startWorkers('engine', queues, processors, ctx, await redisOptions(env, 'worker'), {
    lockMs: env.queueLockMs,
    stalledCheckMs: env.queueStalledCheckMs,
    ...queueHooks(metrics),
    onFailed: (queue, entry, error) => log.warn('queue entry failed', { queue, entry, error }),
    onError: (queue, error) => log.oncePer(`queue:${queue}`, 10_000).warn('queue failed', { queue, error }),
  });
  await openRunWakes(boot, ctx);
  onStop('queues', () => Promise.all(workers.map((worker) => worker.close())));
}
