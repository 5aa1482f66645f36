import { AppError, evalLimits, ssoLimits, submitJob } from '@svc/contract';
import { cappedBy, hostCheck, rateLimiter, type MountOptions, type RateLimiterOptions } from '@svc/http';
import type { Platform } from '@svc/platform';
import type { ApiEnv, Boot, gatewayMetrics, OpenMetrics } from '@svc/runtime';
import { type DataUrlDeps, openDataUrl } from '@svc/jobs';
import { gateRules } from '@svc/access';
import { tenantRates } from '@svc/admission';
import type { Audit } from '@svc/audit';
import { checkScimToken, type ScimDeps } from '@svc/scim';
import type { EffectiveConfig } from '@svc/settings';
import type { CredentialNotices } from './open-credential-notices';
import type { Access } from './open-access';
import type { GatewayIdentity } from './open-identity';

export interface MountParts {
  platform: Platform;
  identity: GatewayIdentity;
  access: Access;
  notices: CredentialNotices;
  metrics: OpenMetrics<typeof gatewayMetrics>['metrics'];
  config: EffectiveConfig;
  dataUrls: DataUrlDeps;
  scim: ScimDeps;
  audit: Pick<Audit, 'audited' | 'refusals'>;
}

/** Options of the HTTP surface: authorization, limits, logs and metrics. */
export function mountOptions(
  { env, clock, log, stopping }: Boot<ApiEnv>,
  { platform, identity, access, notices, metrics, config, dataUrls, scim, audit }: MountParts,
): MountOptions {
  const { license, store } = platform;
  const nowMs = () => clock.nowMs();
  const shared = env.sharedRateLimit ? { redis: store.redis } : {};
  const rate = (keyPrefix: string, rps: number, burst: number, windows?: RateLimiterOptions['windows']) =>
    rateLimiter({
      ...shared,
      ...(windows && { windows }),
      keyPrefix,
      nowMs,
      onStoreFailed: (error) =>
        log
          .oncePer('rate-limit', 10_000)
          .warn('rate limiter unavailable; requests rejected as rate_limited', { error }),
      limit: () => cappedBy({ rps, burst }, license.entitlements().requests_per_second),
    });
  return {
    authenticate: identity.authenticate,
    audited: (...args) => audit.audited(...args),
    gate: gateRules({ license, ...access }),
    openSignedUrl: (purpose, { id }, { token }) => openDataUrl(dataUrls, purpose, id, token),
    openOwnCredential: (_kind, header) => checkScimToken(scim, header('authorization')),
    rateLimits: {
      api: rate('svc:rl:api', env.rateLimitRps, env.rateLimitBurst, tenantRates(config)),
      open: rate('svc:rl:public', env.publicRateLimitRps, env.publicRateLimitBurst),
    },
    bodyLimits: {
      json: env.maxJsonBodyBytes,
      job: env.maxJobPayloadBytes,
      // Base64 adds a third to the size, and the rest of the body needs room too. See docs/reference/jobs.md#artifacts.
      artifact: Math.ceil((env.artifactMaxBytes * 4) / 3) + 65_536,
      data: env.artifactMaxBytes,
      dataset: evalLimits.bodyBytes,
      form: ssoLimits.formBytes,
    },
    licensedBodyBytes: () => license.entitlements().max_body_bytes,
    allowedOrigins: env.allowedOrigins,
    ...browserTrust(env),
    trustedProxies: env.trustedProxies,
    ...(env.production && env.httpTlsCert && { hstsMaxAgeSec: env.hstsMaxAgeSec }),
    handlerTimeoutMs: env.httpWriteTimeoutMs,
    streamRecheckMs: env.wsRevalidationMs,
    followCredential: notices.changes.follow,
    stopping,
    asAppError,
    onServed: ({ endpoint, method, status, durationMs, requestId, tenant }) => {
      const route = endpoint?.path ?? 'none';
      metrics.httpRequests.inc({ method, route, status: String(status) });
      metrics.httpSeconds.observe({ method, route }, durationMs / 1_000);
      if (status === 429)
        metrics.rateLimited.inc({ scope: endpoint && endpoint.access !== 'public' ? 'tenant' : 'public' });
      log.debug('served', { method, route, status, duration_ms: durationMs, request_id: requestId, tenant });
    },
    onRejected: ({ endpoint, code }) => {
      if (endpoint?.id === submitJob.id) metrics.submitRejected.inc({ reason: code });
    },
    onRefused: (refused) => {
      const { code, method, path, requestId } = refused;
      log.oncePer(`refused:${code}`, 1_000).info('credentials rejected', { code, method, path, request_id: requestId });
      audit.refusals.note(refused);
    },
    onDefect: (error, { endpoint, requestId }) => log.error('defect', { error, endpoint, request_id: requestId }),
    checkAnswers: false,
  };
}

/**
 * Default hosts and origins for browsers. Production allows any host: it requires credentials and TLS, whose certificate
 * does not match a rebound name.
 */
export function browserTrust({
  production,
  allowedHosts,
  httpAddr,
}: Pick<ApiEnv, 'production' | 'allowedHosts' | 'httpAddr'>): Pick<MountOptions, 'trustsLoopback' | 'allowsHost'> {
  const isListed = allowedHosts.length > 0;
  const check = isListed ? hostCheck([...allowedHosts, httpAddr.host].filter(Boolean)) : hostCheck([]);
  return { trustsLoopback: !production, ...((isListed || !production) && { allowsHost: check }) };
}

const lost =
  /ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|Command timed out|Connection is closed|max retries per request|MISCONF|NOREPLICAS|\bOOM\b|READONLY|LOADING/i;

/** An unavailable or read-only store is not a defect: the caller may retry. */
export const asAppError = (error: unknown): AppError | undefined =>
  error instanceof Error && lost.test(`${error.name} ${error.message}`)
    ? new AppError('store_unavailable', {}, { 'Retry-After': '2' })
    : undefined;
