import type { Kernel } from '@svc/kernel-client';
import type { Platform, ServiceKernel } from '@svc/platform';
import { apiEnv, envFindings, type ApiEnv, type Boot } from '@svc/runtime';
import type { StatusDeps } from '@svc/status';

export interface StatusParts {
  platform: Platform;
  kernel: Kernel;
  policyFindings: ServiceKernel['policyFindings'];
  failOpenTotal(): number;
}

/** Dependencies of the status route. See docs/reference/http.md#probes-and-status. */
export function statusDeps(
  { env, clock, build }: Boot<ApiEnv>,
  { platform, kernel, policyFindings, failOpenTotal }: StatusParts,
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
    license: () => {
      const { plan, status, payload } = license.state();
      return { mode: plan, status, plan, ...(payload && { org_id: payload.org_id, license_id: payload.license_id }) };
    },
    rateLimiterMode: env.sharedRateLimit ? 'redis' : 'memory',
    breakers: async () => ({ ...(await kernel.breakers()) }),
    failOpenTotal,
    openHandles: () => process.getActiveResourcesInfo().length,
    environment: { audit_transport: 'buffer' },
    rules: {
      rules: env.production ? 'production' : 'development',
      findings: envFindings(apiEnv, env).map((finding) => ({ ...finding })),
    },
  };
}
