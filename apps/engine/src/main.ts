import { openPlatform } from '@svc/platform';
import { queues } from '@svc/queues.config';
import { commonMetrics, engineEnv, openMetrics, runService, type Boot, type EngineEnv } from '@svc/runtime';

void runService({
  name: 'engine',
  purpose: 'Runs workflows.',
  env: engineEnv,
  start,
});

/** The engine stands on store and bus and is ready; runs come with the workflow capability. */
async function start(boot: Boot<EngineEnv>): Promise<void> {
  const { env, build } = boot;
  const opened = openMetrics(commonMetrics, { pod: env.instanceId });
  opened.metrics.buildInfo.set({ version: build.version }, 1);
  await openPlatform(boot, {
    service: 'engine',
    queues,
    probes: { addr: env.httpAddr, open: env.metricsPublic },
    metrics: opened,
  });
}
