import { AppError } from '@svc/contract';
import { createOutboundClient, type OutboundClient, type Resolve } from '@svc/outbound';
import type { Redis } from 'ioredis';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import * as oidc from 'openid-client';
import { outboundFetch } from './outbound-fetch';
import { ProviderKeys } from './provider-keys';
import type { OidcSettings } from './settings';

interface ProviderDeps {
  redis: Redis;
  nowMs(): number;
  onProblem(message: string, error: unknown): void;
  /** Replaces the system's name resolution in tests. */
  resolve?: Resolve;
}

/** Accepted difference between the clocks of the provider and this service. */
export const CLOCK_SKEW_SEC = 30;
/** Time for which the endpoints of a provider are used without reading them again. */
const DISCOVERY_TTL_MS = 3_600_000;
const RETRY_MS = 5_000;

const loopbackAndPrivate = ['127.0.0.0/8', '::1/128', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];

/** One OpenID Connect provider: its endpoints, its keys, and the verification of its tokens. */
export class OidcProvider {
  private readonly client: OutboundClient;
  private readonly keys: ProviderKeys;
  private found: { config: oidc.Configuration; readAtMs: number } | undefined;
  private finding: Promise<oidc.Configuration> | undefined;
  private failedAtMs = -Infinity;

  constructor(
    readonly settings: OidcSettings,
    private readonly deps: ProviderDeps,
  ) {
    const { onlyHosts, allowPrivate, allowHttp, issuer, jwksRefreshMs: refreshMs, jwksCooldownMs: cooldownMs } = settings;
    this.client = createOutboundClient({
      ...(onlyHosts.length > 0 && { onlyHosts }),
      ...(allowPrivate && { allow: loopbackAndPrivate }),
      ...(deps.resolve && { resolve: deps.resolve }),
      httpsOnly: !allowHttp,
    });
    const onProblem = (error: unknown) => deps.onProblem('keys of the identity provider not read', error);
    this.keys = new ProviderKeys({ ...deps, client: this.client, onProblem }, { issuer, refreshMs, cooldownMs }, async () => {
      const { jwks_uri: url } = (await this.config()).serverMetadata();
      if (url === undefined) throw new Error('the provider publishes no keys');
      return url;
    });
  } // prettier-ignore

  /**
   * Endpoints of the provider. When they cannot be read again, the previous ones stay in effect.
   *
   * @throws upstream_service_error
   */
  async config(): Promise<oidc.Configuration> {
    const { found, deps } = this;
    if (found && deps.nowMs() - found.readAtMs < DISCOVERY_TTL_MS) return found.config;
    if (!found && deps.nowMs() - this.failedAtMs < RETRY_MS) throw new AppError('upstream_service_error');
    this.finding ??= this.discover().finally(() => (this.finding = undefined));
    try {
      return await this.finding;
    } catch (error) {
      this.failedAtMs = deps.nowMs();
      deps.onProblem('identity provider not reached', error);
      if (!found) throw new AppError('upstream_service_error');
      this.found = { ...found, readAtMs: deps.nowMs() - DISCOVERY_TTL_MS + RETRY_MS };
      return found.config;
    }
  }

  private async discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret, allowHttp } = this.settings;
    const authentication = clientSecret ? undefined : oidc.None();
    const config = await oidc.discovery(
      new URL(issuer),
      clientId || 'none',
      { ...(clientSecret && { client_secret: clientSecret }), [oidc.clockTolerance]: CLOCK_SKEW_SEC },
      authentication,
      {
        [oidc.customFetch]: outboundFetch(this.client),
        ...(allowHttp && { execute: [oidc.allowInsecureRequests] }),
      },
    );
    // The library compares URLs; the claim `iss` is compared as text.
    if (config.serverMetadata().issuer !== issuer) throw new Error('the discovered issuer is not SVC_OIDC_ISSUER');
    this.found = { config, readAtMs: this.deps.nowMs() };
    return config;
  }

  /**
   * Verifies the signature, issuer, audience and times of a token. Undefined when one is wrong.
   *
   * @throws upstream_service_error when the keys cannot be read
   */
  async verify(token: string, audience: string, requiredClaims: readonly string[]): Promise<VerifiedToken | undefined> {
    const { issuer, algorithms } = this.settings;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.keys.find, {
        issuer,
        audience,
        algorithms: [...algorithms],
        requiredClaims: ['exp', ...requiredClaims],
        clockTolerance: CLOCK_SKEW_SEC,
        currentDate: new Date(this.deps.nowMs()),
      });
      return { claims: payload, type: protectedHeader.typ ?? '' };
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      if (error instanceof AppError) throw error;
      this.deps.onProblem('keys of the identity provider not read', error);
      throw new AppError('upstream_service_error');
    }
  }
}

interface VerifiedToken {
  claims: JWTPayload;
  /** Header `typ`; '' without one. */
  type: string;
}
