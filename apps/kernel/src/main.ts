import { grpcServices } from '@svc/contract';
import { startGrpcServer } from '@svc/grpc';
import { velocityRulesInForce } from '@svc/identity';
import { localKernelSettings, openLocalKernel } from '@svc/kernel-client';
import { followLicense, openServiceLicense, whenAvailable } from '@svc/platform';
import {
  certificateGauges,
  commonMetrics,
  kernelEnv,
  kernelMetrics,
  NotReady,
  openMetrics,
  runService,
  startProbeServer,
  type Boot,
  type KernelEnv,
} from '@svc/runtime';
import { openRedis } from '@svc/store';
import { kernelBatchService } from './kernel-batch-service';
import { kernelService } from './kernel-service';
import { outputService } from './output-service';

const graceMs = 10_000;

void runService({
  name: 'kernel',
  purpose: 'The safety kernel: decides whether jobs may run and results may be released.',
  env: kernelEnv,
  start,
});

async function start(boot: Boot<KernelEnv>): Promise<void> {
  const { env, log, health, clock, build, onStop } = boot;
  const opened = openMetrics({ ...kernelMetrics, ...commonMetrics }, { pod: env.instanceId });
  const { metrics } = opened;
  metrics.buildInfo.set({ version: build.version }, 1);
  certificateGauges(opened, kernelEnv, env, clock);
  const onError = (error: unknown) => log.error('probe failed', { error });
  const loopbackInProduction = { production: env.production, open: env.metricsPublic };
  const probes = await startProbeServer({
    addr: env.adminAddr,
    health,
    metrics: opened,
    loopbackInProduction,
    onError,
  });
  onStop('probes', () => probes.close());

  const redis = await openRedis(env, 'request');
  redis.on('error', (error) => log.oncePer('redis', 10_000).warn('store connection failed', { error }));
  onStop('store', () => redis.quit());
  health.dependsOn('redis', () => redis.ping());

  const license = openServiceLicense({ env, clock, log });
  followLicense(boot, redis, license);
  const maxVelocityRules = () => velocityRulesInForce(license.entitlements());
  const deps = { redis, log, clock, metrics, maxVelocityRules };
  const kernel = await whenAvailable(boot, 'store', () => openLocalKernel(localKernelSettings(env), deps));
  onStop('kernel', () => kernel.close());
  health.dependsOn('policy', async () => {
    const state = kernel.ready();
    if (!state.ok) throw new NotReady(state.reason);
  });

  const { tlsCert: cert, tlsKey: key, tlsCa: ca } = env;
  const server = await startGrpcServer(
    {
      address: env.addr,
      ...(cert && key && { tls: { files: { cert, key, ...(ca && { ca }) }, minVersion: env.tlsMinVersion } }),
      connections: {
        keepaliveTimeMs: env.grpcKeepaliveTimeMs,
        keepaliveTimeoutMs: env.grpcKeepaliveTimeoutMs,
        maxConnectionAgeMs: env.grpcMaxConnectionAgeMs,
        maxConnectionAgeGraceMs: env.grpcMaxConnectionAgeGraceMs,
      },
      reflection: env.grpcReflection,
      services: {
        [grpcServices.kernel]: kernelService(kernel),
        [grpcServices.kernelBatch]: kernelBatchService(kernel),
        [grpcServices.output]: outputService(kernel),
      },
    },
    {
      health,
      clock,
      onDefect: (error, method) => log.error('defect', { error, endpoint: method }),
      onTlsError: (error) => log.error('certificate is invalid; keeping the previous one', { error }),
    },
  );
  onStop('grpc', () => server.close(graceMs));
  log.info('serving', { grpc_port: server.port });
}
