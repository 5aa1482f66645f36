import type { AuthConfigView, Role } from '@svc/contract';
import type { BearerCheck } from '@svc/identity';
import type { ApiEnv, Boot } from '@svc/runtime';
import type { Resolve } from '@svc/outbound';
import type { Store } from '@svc/store';
import { readBaseUrl } from './base-url';
import { openOidcBearer } from './oidc/bearer';
import { LiveGroups } from './oidc/live-groups';
import { OidcProvider } from './oidc/provider';
import { readOidcSettings } from './oidc/settings';
import type { OidcDeps } from './oidc/sign-in';
import type { GroupWriteDeps } from './oidc/write-groups';
import { PendingSignIns } from './pending-sign-ins';
import { preLoginCookie } from './pre-login-cookie';
import type { SsoContext } from './routes';
import { SamlProvider } from './saml/provider';
import { readSamlSettings } from './saml/settings';
import type { SamlDeps } from './saml/sign-in';
import type { SignInDeps } from './sso-deps';

interface ProviderParts extends Pick<SignInDeps, 'license'> {
  store: Store;
  roles(): Readonly<Record<string, Role>>;
  /** Replaces the system's name resolution in tests. */
  resolve?: Resolve;
}

/** The configured identity providers. */
export interface Providers {
  oidc: Pick<OidcDeps, 'provider' | 'groups' | 'pending' | 'cookie' | 'redis'> | undefined;
  saml: Pick<SamlDeps, 'provider' | 'pending' | 'cookie'> | undefined;
  /** Checks bearer tokens of the OpenID Connect provider. */
  bearer: BearerCheck | undefined;
}

type SsoBoot = Pick<Boot<ApiEnv>, 'env' | 'clock' | 'log'>;

/**
 * Opens the providers of the environment. Requests none of them: a provider that is unavailable delays no start.
 *
 * @throws Error naming the variable when keys or metadata cannot be read
 */
export function openProviders({ env, clock, log }: SsoBoot, parts: ProviderParts): Providers {
  const nowMs = () => clock.nowMs();
  const onProblem = (message: string, error?: unknown) => log.oncePer(`sso:${message}`, 10_000).warn(message, { error });
  const { store, license, roles, resolve } = parts;
  const { redis } = store;
  const oidcSettings = readOidcSettings(env);
  const samlSettings = readSamlSettings(env);
  const provider = oidcSettings && new OidcProvider(oidcSettings, { redis, nowMs, onProblem, ...(resolve && { resolve }) });
  const groups = oidcSettings && new LiveGroups(oidcSettings.groups, { store, clock, onProblem });
  const isEntitled = () => license.entitlements().sso;
  return {
    oidc: provider && groups && {
      ...{ redis, provider, groups },
      pending: new PendingSignIns(redis, provider.settings.stateTtlMs),
      cookie: preLoginCookie('svc_oidc', { secure: isSecure(env, provider.settings.redirectUri), crossSite: false }),
    },
    saml: samlSettings && {
      provider: new SamlProvider(samlSettings, { nowMs, onProblem }),
      pending: new PendingSignIns(redis, samlSettings.stateTtlMs),
      cookie: preLoginCookie('svc_saml', { secure: isSecure(env, samlSettings.acsUrl), crossSite: true }),
    },
    bearer: provider && groups && openOidcBearer({ provider, groups, store, roles, isEntitled }),
  };
} // prettier-ignore

/** Whether browsers reach the gateway over TLS, at itself or at a proxy. */
const isSecure = ({ production }: Pick<ApiEnv, 'production'>, url: string): boolean =>
  production || url.startsWith('https://');

export interface SsoParts extends Omit<SignInDeps, 'defaultPage' | 'fragmentToken' | 'log'> {
  providers: Providers;
  groups: GroupWriteDeps;
  readAuthConfig(): Promise<AuthConfigView>;
}

/** The dependencies of the handlers. */
export function openSso({ env, log }: Pick<SsoBoot, 'env' | 'log'>, { providers, groups, readAuthConfig, ...rest }: SsoParts): SsoContext['sso'] {
  const { oidc, saml } = providers;
  groups.config.onChange(() => oidc?.groups.changed());
  const base: SignInDeps = { ...rest, log, defaultPage: findDefaultPage(env), fragmentToken: env.ssoFragmentToken };
  return {
    ...base,
    groups,
    readAuthConfig,
    oidc: oidc && { ...base, ...oidc, sessionTtlSec: env.sessionTtlMs / 1_000 },
    saml: saml && { ...base, ...saml },
  };
} // prettier-ignore

/** SVC_AUTH_REDIRECT_URL, else the page `/login` of the pages, else that of this gateway. */
const findDefaultPage = ({ authRedirectUrl, authUiOrigin, apiBaseUrl }: ApiEnv): string =>
  authRedirectUrl ?? new URL('/login', authUiOrigin ?? readBaseUrl({ apiBaseUrl })).href;
