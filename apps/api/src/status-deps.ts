import type { BreakerStatus, Kernel } from '@svc/kernel-client';
import { toLicenseSummary } from '@svc/license';
import type { Platform, ServiceKernel } from '@svc/platform';
import { apiEnv, envFindings, type ApiEnv, type Boot } from '@svc/runtime';
import type { StatusDeps } from '@svc/status';

export interface StatusParts {
  platform: Platform;
  kernel: Kernel;
  policyFindings: ServiceKernel['policyFindings'];
  failOpenTotal(): number;
  activeStreams(): number;
}

/** Dependencies of the status route. See docs/reference/http.md#probes-and-status. */
export function statusDeps(
  { env, clock, build }: Boot<ApiEnv>,
  { platform, kernel, policyFindings, failOpenTotal, activeStreams }: StatusParts,
): StatusDeps {
  const { store, bus, license, instance, storeFindings } = platform;
  return {
    store,
    clock,
    defaultTenant: env.defaultTenant,
    startedAtMs: clock.nowMs(),
    build: { version: build.version, commit: build.commit, date: build.date },
    instanceId: instance.id,
    storeFindings: () => storeFindings().map(({ code, what, fix }) => ({ finding: code, what, fix })),
    policyFindings: () => policyFindings().map(({ of, problem }) => ({ of, problem })),
    bus: () => ({ isConnected: bus.status().isConnected, url: bus.status().server }),
    license: () => toLicenseSummary(license.state()),
    rateLimiterMode: env.sharedRateLimit ? 'redis' : 'memory',
    breakers: async () => {
      // They are shared through Redis.
      const known = await kernel.breakers().catch(() => undefined);
      return { input: toBreakerView(known?.input), output: toBreakerView(known?.output) };
    },
    failOpenTotal,
    activeStreams,
    openHandles: () => process.getActiveResourcesInfo().length,
    // One connection for requests in each process.
    environment: { redis_pool_size: 1, redis_min_idle_conns: 1, audit_transport: 'buffer' },
    rules: {
      rules: env.production ? 'production' : 'development',
      findings: envFindings(apiEnv, env).map((finding) => ({ ...finding })),
    },
  };
}

const toBreakerView = (breaker: BreakerStatus | undefined) =>
  breaker
    ? { ...breaker, state: breaker.state.toUpperCase() }
    : { state: 'UNKNOWN', failures: -1, fail_threshold: 3, cooldown_remaining_ms: 0 };
