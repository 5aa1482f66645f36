import { endpoints } from '@svc/contract';
import { mount, openapi, proxyCheck, serve, serveSwagger } from '@svc/http';
import { packetSignerFrom } from '@svc/identity';
import { queues } from '@svc/queues.config';
import {
  apiEnv,
  approvalMetrics,
  auditMetrics,
  certificateGauges,
  commonMetrics,
  dispatchMetrics,
  gatewayMetrics,
  kernelMetrics,
  openMetrics,
  runService,
  type ApiEnv,
  type Boot,
} from '@svc/runtime';
import { openAudit, openAuditExport } from '@svc/audit';
import { followWorkers, openRegistry } from '@svc/dispatch';
import { openFleet } from '@svc/registry';
import { keys } from '@svc/store';
import { runTelemetry } from '@svc/telemetry';
import { eraseTenants } from '@svc/tenants';
import { openWorkerTrust } from '@svc/worker-trust';
import { openEndings, openPlatform, openServiceKernel, startLoops } from '@svc/platform';
import { mountAdmin } from './admin/mount-admin';
import { apiInfo } from './api-info';
import { buildContext } from './build-context';
import { startGrpcServer } from './grpc/server';
import { mountOptions } from './mount-options';
import { openAccess } from './open-access';
import { openCredentialNotices } from './open-credential-notices';
import { openIdentity } from './open-identity';
import { openTenantStops } from './open-tenant-stops';
import { routes } from './routes';
import { openStreams } from './streams/open-streams';
import { serveStreams } from './streams/serve-streams';
import { createFirstAdmin } from './user-deps';

void runService({
  name: 'api',
  purpose: 'The gateway: REST, gRPC, the API viewer and Bull Board.',
  env: apiEnv,
  start,
});

async function start(boot: Boot<ApiEnv>): Promise<void> {
  const { env, log, clock, build, onStop } = boot;
  const opened = openMetrics(
    { ...gatewayMetrics, ...dispatchMetrics, ...approvalMetrics, ...commonMetrics, ...kernelMetrics, ...auditMetrics },
    { pod: env.instanceId },
  );
  const { metrics } = opened;
  metrics.buildInfo.set({ version: build.version }, 1);
  certificateGauges(opened, apiEnv, env, clock);
  const registry = openRegistry(env);
  const platform = await openPlatform(boot, {
    service: 'gateway',
    queues,
    probes: { addr: env.metricsAddr, open: env.metricsPublic },
    metrics: opened,
    signer: packetSignerFrom(env),
    onDisconnected: () => registry.busDisconnected(),
    onReconnected: () => registry.busConnected(clock.nowMs()),
  });
  const trust = await openWorkerTrust(boot, platform);
  const streams = await openStreams(boot, platform, trust, metrics);
  await followWorkers(boot, platform, registry, trust, streams.onHeartbeat);
  const { fleet } = await openFleet(boot, platform.store);
  onStop(
    'files',
    startLoops([{ name: 'files', everyMs: 1_000, atStart: true, run: () => fleet.refresh() }], (loop, error) =>
      log.oncePer(`loop:${loop}`, 10_000).warn('loop failed', { loop, error }),
    ),
  );
  const { kernel, policyFindings } = await openServiceKernel(boot, platform, metrics);

  const audit = await openAudit(boot, { ...platform, metrics });
  const auditExport = openAuditExport(boot, { ...platform, metrics, audit });
  const notices = openCredentialNotices(boot, platform);
  const access = await openAccess(boot, platform.store, notices);
  const stops = await openTenantStops(boot, platform, notices);
  const identity = openIdentity(boot, platform, notices, access, stops.has);
  const ctx = buildContext(boot, {
    access,
    audit,
    identity,
    notices,
    auditExport,
    streams,
    platform,
    fleet,
    registry,
    kernel,
    policyFindings,
    metrics,
    endings: await openEndings(boot),
  });
  const eraser = {
    name: 'tenant-eraser',
    everyMs: 1_000,
    lease: platform.store.lease(keys.tenantEraserLease(), platform.instance.id, 30_000),
    run: () => eraseTenants(ctx.tenantErasure),
  };
  const telemetry = {
    name: 'telemetry',
    everyMs: 60_000,
    lease: platform.store.lease(keys.telemetryLease(), platform.instance.id, 60_000),
    run: () => runTelemetry(ctx.telemetry),
  };
  onStop(
    'installation',
    startLoops([eraser, telemetry], (loop, error) =>
      log.oncePer(`loop:${loop}`, 10_000).warn('loop failed', { loop, error }),
    ),
  );
  fleet.follow(ctx.submit.config, (error) => log.warn('pools and timeouts not reloaded', { error }));
  platform.bus.subscribe({ name: 'sys.config.changed', payload: 'alert' }, () => ctx.submit.config.changed());
  const options = mountOptions(boot, {
    platform,
    identity,
    access,
    notices,
    metrics,
    config: ctx.submit.config,
    dataUrls: ctx.dataUrls,
    scim: ctx.scim,
    audit,
  });
  await createFirstAdmin(boot, ctx);
  const surface = mount(routes, ctx, options);
  serveSwagger(surface.app, openapi(endpoints, apiInfo(build.version)));
  mountAdmin(surface.app, boot, { store: platform.store, users: ctx.users, surface: options });
  const web = await serve(surface.finish(), {
    host: env.httpAddr.host,
    port: env.httpAddr.port,
    ...(env.httpTlsCert &&
      env.httpTlsKey && {
        tls: { files: { cert: env.httpTlsCert, key: env.httpTlsKey }, minVersion: env.tlsMinVersion },
      }),
    requestTimeoutMs: env.httpReadTimeoutMs,
    idleTimeoutMs: env.httpIdleTimeoutMs,
    writeTimeoutMs: env.httpWriteTimeoutMs,
    maxConnections: env.httpMaxConnections,
    maxConnectionsPerAddress: env.httpMaxConnectionsPerAddress,
    isProxy: proxyCheck(env.trustedProxies),
    onConnectionRefused: (limit) =>
      log.oncePer(`connections:${limit}`, 10_000).warn('connections rejected: limit reached', { limit }),
    onProblem: (problem) => log.error('certificate is invalid; keeping the previous one', { error: problem }),
  });
  onStop('http', () => web.close(10_000));
  serveStreams(boot, web, { ctx, options, metrics, ...streams });
  const rpc = await startGrpcServer(boot, ctx, options);
  onStop('grpc', () => rpc.close());
  log.info('serving', { http_port: web.port, grpc_port: rpc.port });
}
