import { createOutboundClient } from '@svc/outbound';
import type { Base, Platform } from '@svc/platform';
import type { ApiEnv, Boot } from '@svc/runtime';
import { type TelemetryContext, TelemetryRepository } from '@svc/telemetry';

const TENANTS_AT_ONCE = 200;

/** Dependencies of telemetry. Nothing is sent but in mode `anonymous` with an endpoint. */
export function telemetryDeps(
  { env, build }: Pick<Boot<ApiEnv>, 'env' | 'build'>,
  { license, isOidc, ...base }: Base & Pick<Platform, 'license'> & { isOidc: boolean },
): TelemetryContext['telemetry'] {
  const { store } = base;
  return {
    ...base,
    license,
    repository: new TelemetryRepository(store.redis),
    defaultTenant: env.defaultTenant,
    settings: {
      mode: env.telemetryMode,
      endpoint: env.telemetryEndpoint ?? '',
      version: build.version,
      userAuth: env.userAuth,
      oidc: isOidc,
      outputPolicy: true,
    },
    // The operator named the host, which may be private.
    outbound: createOutboundClient({
      httpsOnly: true,
      allow: env.telemetryEndpoint ? [new URL(env.telemetryEndpoint).hostname] : [],
    }),
    async countWork(sinceUs) {
      const tenants = await store.tenants.names();
      const total = { jobs: 0, runs: 0, workflows: 0 };
      for (let i = 0; i < tenants.length; i += TENANTS_AT_ONCE) {
        const counts = await Promise.all(
          tenants.slice(i, i + TENANTS_AT_ONCE).map((tenant) => store.tenants.countWork(tenant, sinceUs)),
        );
        for (const { jobs, runs, workflows } of counts) {
          total.jobs += jobs;
          total.runs += runs;
          total.workflows += workflows;
        }
      }
      return total;
    },
    countTopics: async () => {
      const [document] = await store.config.documents([['system', 'topics']]);
      return Object.keys(document?.data ?? {}).length;
    },
  };
}
