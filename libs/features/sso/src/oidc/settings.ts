import type { ApiEnv } from '@svc/runtime';
import { isOidcOn, parseGroupMapping, type GroupMapping } from '@svc/runtime';

/** Claims that describe a user. */
export interface ClaimNames {
  tenant: string;
  role: string;
  username: string;
  email: string;
  name: string;
}

/** Groups claim, and roles by group. */
export interface GroupRoles {
  claim: string;
  mapping: GroupMapping;
}

export interface OidcSettings {
  issuer: string;
  /** '' = tokens are accepted, but there is no sign-in by browser. */
  clientId: string;
  /** '' = a public client. */
  clientSecret: string;
  redirectUri: string;
  /** Of bearer tokens; '' = none are accepted. */
  audience: string;
  scopes: readonly string[];
  claims: ClaimNames;
  /** As the environment sets it. */
  groups: GroupRoles;
  defaultRole: string;
  defaultTenant: string;
  provisions: boolean;
  syncs: boolean;
  algorithms: readonly string[];
  jwksRefreshMs: number;
  jwksCooldownMs: number;
  stateTtlMs: number;
  onlyHosts: readonly string[];
  allowPrivate: boolean;
  allowHttp: boolean;
}

/** The provider of the environment; undefined when there is none. */
export function readOidcSettings(env: ApiEnv): OidcSettings | undefined {
  if (!isOidcOn(env) || env.oidcIssuer === undefined) return undefined;
  const clientId = env.oidcClientId ?? '';
  return {
    issuer: env.oidcIssuer,
    clientId,
    clientSecret: env.oidcClientSecret ?? '',
    redirectUri: env.oidcRedirectUri ?? '',
    audience: env.oidcAudience ?? clientId,
    scopes: [...new Set(['openid', ...env.oidcScopes])],
    claims: {
      tenant: env.oidcClaimTenant,
      role: env.oidcClaimRole,
      username: env.oidcUsernameClaim,
      email: env.oidcEmailClaim,
      name: env.oidcNameClaim,
    },
    groups: { claim: env.oidcGroupsClaim, mapping: parseGroupMapping(env.oidcGroupRoleMapping ?? '{}').mapping },
    defaultRole: env.oidcDefaultRole,
    defaultTenant: env.defaultTenant,
    provisions: !env.oidcDisableAutoProvision,
    syncs: !env.oidcDisableRoleSync,
    algorithms: env.oidcAllowedAlgs,
    jwksRefreshMs: env.oidcJwksRefreshMs,
    jwksCooldownMs: env.oidcJwksCooldownMs,
    stateTtlMs: env.oidcStateTtlMs,
    onlyHosts: env.oidcIssuerAllowlist,
    allowPrivate: env.oidcAllowPrivate,
    allowHttp: env.oidcAllowHttp,
  };
}
