import { variables, type EnvOf, type Rule } from './declare';
import { parseGroupMapping } from './group-mapping';
import type { Problem } from './problem';
import { needed, refusedInProduction } from './rules';

/** Algorithms of OpenID Connect tokens: asymmetric only, so that no key of the provider can be used to sign them. */
const oidcAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'] as const;

/** Sign-in and bearer tokens with OpenID Connect. */
export const oidcVariables = variables({
  oidcEnabled: {
    name: 'SVC_OIDC_ENABLED',
    type: 'bool',
    default: 'false',
    doc: 'Accepts the tokens of an OpenID Connect provider; also on when SVC_OIDC_CLIENT_ID is set.',
  },
  oidcIssuer: {
    name: 'SVC_OIDC_ISSUER',
    type: 'url',
    doc: 'Issuer, exactly as the provider states it; base of /.well-known/openid-configuration.',
  },
  oidcAudience: {
    name: 'SVC_OIDC_AUDIENCE',
    type: 'string',
    doc: 'Required audience of bearer tokens; the client id in development when unset.',
  },
  oidcClientId: { name: 'SVC_OIDC_CLIENT_ID', type: 'string', doc: 'Client id at the provider.' },
  oidcClientSecret: {
    name: 'SVC_OIDC_CLIENT_SECRET',
    type: 'string',
    secret: true,
    doc: 'Client secret; unset for a public client, which PKCE alone protects.',
  },
  oidcRedirectUri: {
    name: 'SVC_OIDC_REDIRECT_URI',
    type: 'url',
    doc: 'URL of /api/v1/auth/sso/oidc/callback as browsers reach it; needed for sign-in by browser.',
  },
  oidcScopes: {
    name: 'SVC_OIDC_SCOPES',
    type: 'list',
    default: 'openid,profile,email',
    doc: 'Requested scopes; openid is always requested.',
  },
  oidcClaimTenant: { name: 'SVC_OIDC_CLAIM_TENANT', type: 'string', default: 'org_id', doc: 'Claim of the tenant.' },
  oidcClaimRole: { name: 'SVC_OIDC_CLAIM_ROLE', type: 'string', default: 'svc_role', doc: 'Claim of the role.' },
  oidcUsernameClaim: {
    name: 'SVC_OIDC_USERNAME_CLAIM',
    type: 'string',
    default: 'preferred_username',
    doc: 'Claim of the user name.',
  },
  oidcEmailClaim: {
    name: 'SVC_OIDC_EMAIL_CLAIM',
    type: 'string',
    default: 'email',
    doc: 'Claim of the e-mail address.',
  },
  oidcNameClaim: { name: 'SVC_OIDC_NAME_CLAIM', type: 'string', default: 'name', doc: 'Claim of the display name.' },
  oidcGroupsClaim: { name: 'SVC_OIDC_GROUPS_CLAIM', type: 'string', default: 'groups', doc: 'Claim of the groups.' },
  oidcGroupRoleMapping: {
    name: 'SVC_OIDC_GROUP_ROLE_MAPPING',
    type: 'string',
    doc: 'Group to role admin, operator or viewer, as JSON; replaced by PUT /api/v1/auth/oidc/group-role-mapping.',
  },
  oidcDefaultRole: {
    name: 'SVC_OIDC_DEFAULT_ROLE',
    type: 'string',
    default: 'viewer',
    doc: 'Role when neither groups nor the role claim give one.',
  },
  oidcDisableAutoProvision: {
    name: 'SVC_OIDC_DISABLE_AUTO_PROVISION',
    type: 'bool',
    default: 'false',
    doc: 'Lets only users sign in who exist already.',
  },
  oidcDisableRoleSync: {
    name: 'SVC_OIDC_DISABLE_ROLE_SYNC',
    type: 'bool',
    default: 'false',
    doc: 'Keeps role, name and e-mail address of existing users as they are.',
  },
  oidcAllowedAlgs: {
    name: 'SVC_OIDC_ALLOWED_ALGS',
    type: 'list',
    default: oidcAlgorithms.join(','),
    doc: 'Accepted signature algorithms.',
  },
  oidcJwksRefreshMs: {
    name: 'SVC_OIDC_JWKS_REFRESH_INTERVAL',
    type: 'duration',
    min: '1m',
    default: '6h',
    doc: 'Time after which the keys of the provider are read again.',
  },
  oidcJwksCooldownMs: {
    name: 'OIDC_JWKS_REFRESH_COOLDOWN',
    type: 'duration',
    min: '1s',
    default: '1m',
    doc: 'Minimum time between two reads of the keys because of an unknown key id.',
  },
  oidcStateTtlMs: {
    name: 'SVC_OIDC_STATE_TTL',
    type: 'duration',
    min: '30s',
    max: '1h',
    default: '10m',
    doc: 'Time allowed for a sign-in at the provider.',
  },
  oidcIssuerAllowlist: {
    name: 'SVC_OIDC_ISSUER_ALLOWLIST',
    type: 'list',
    doc: 'Hosts, each with its subdomains, that may serve the issuer and its endpoints; unset = any.',
  },
  oidcAllowPrivate: {
    name: 'SVC_OIDC_ALLOW_PRIVATE',
    type: 'bool',
    default: 'true',
    productionDefault: 'false',
    doc: 'Permits a provider on loopback and private addresses.',
  },
  oidcAllowHttp: {
    name: 'SVC_OIDC_ALLOW_HTTP',
    type: 'bool',
    default: 'true',
    productionDefault: 'false',
    doc: 'Permits a provider without TLS; rejected in production.',
  },
});

export type OidcEnv = EnvOf<typeof oidcVariables>;

export const isOidcOn = ({ oidcEnabled, oidcClientId }: Pick<OidcEnv, 'oidcEnabled' | 'oidcClientId'>): boolean =>
  oidcEnabled || oidcClientId !== undefined;

export const oidcRules: Rule<OidcEnv> = (env) => {
  if (!isOidcOn(env)) return [];
  return [
    ...needed(true, 'SVC_OIDC_ISSUER', env.oidcIssuer, 'OpenID Connect is on'),
    ...needed(env.production, 'SVC_OIDC_AUDIENCE', env.oidcAudience, 'production accepts bearer tokens of one audience'),
    ...refusedInProduction(env.production, 'SVC_OIDC_ALLOW_HTTP', env.oidcAllowHttp, 'providers need TLS'),
    ...withTls(env, 'SVC_OIDC_ISSUER', env.oidcIssuer),
    ...withTls(env, 'SVC_OIDC_REDIRECT_URI', env.oidcRedirectUri),
    ...listedHost(env),
    ...knownAlgorithms(env.oidcAllowedAlgs),
    ...validMapping(env.oidcGroupRoleMapping),
  ];
}; // prettier-ignore

const withTls = ({ oidcAllowHttp }: OidcEnv, name: string, url: string | undefined): Problem[] =>
  url === undefined || oidcAllowHttp || url.startsWith('https://')
    ? []
    : [{ name, given: 'a URL without TLS', expected: 'an https:// URL', fix: 'Set an https:// URL.' }];

function listedHost({ oidcIssuer, oidcIssuerAllowlist }: OidcEnv): Problem[] {
  const host = oidcIssuer === undefined ? '' : new URL(oidcIssuer).hostname;
  const isListed = oidcIssuerAllowlist.some((entry) => host === entry || host.endsWith(`.${entry}`));
  if (oidcIssuerAllowlist.length === 0 || host === '' || isListed) return [];
  return [
    {
      name: 'SVC_OIDC_ISSUER',
      given: host,
      expected: 'a host of SVC_OIDC_ISSUER_ALLOWLIST',
      fix: 'Add the host to the list, or correct the issuer.',
    },
  ];
}

function knownAlgorithms(given: readonly string[]): Problem[] {
  const unknown = given.find((name) => !(oidcAlgorithms as readonly string[]).includes(name));
  if (unknown === undefined && given.length > 0) return [];
  return [
    {
      name: 'SVC_OIDC_ALLOWED_ALGS',
      given: unknown ?? 'none',
      expected: `some of ${oidcAlgorithms.join(', ')}`,
      fix: 'Correct the list.',
    },
  ];
}

function validMapping(text: string | undefined): Problem[] {
  const fault = text === undefined ? undefined : parseGroupMapping(text).fault;
  if (fault === undefined) return [];
  return [{ name: 'SVC_OIDC_GROUP_ROLE_MAPPING', given: fault, expected: 'JSON such as {"platform":"admin"}', fix: 'Correct the JSON.' }]; // prettier-ignore
}
