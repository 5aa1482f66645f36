import { variables, type EnvOf, type Rule } from './declare';
import { isOidcOn, type OidcEnv } from './oidc';
import type { Problem } from './problem';
import { needed, refusedInProduction, strong } from './rules';
import { isSamlOn, type SamlEnv } from './saml';

const maxClockSkew = '5m';

/** Authentication of gateway callers. */
export const gatewayAuthVariables = variables({
  apiKey: {
    name: 'SVC_API_KEY',
    aliases: ['API_KEY'],
    type: 'string',
    secret: true,
    doc: 'API key with the role admin in the default tenant.',
  },
  apiKeys: {
    name: 'SVC_API_KEYS',
    type: 'string',
    secret: true,
    doc: 'Further API keys: comma-separated, `tenant:key:role:principal`, or JSON.',
  },
  apiKeysPath: {
    name: 'SVC_API_KEYS_PATH',
    type: 'path',
    doc: 'File of API keys in the same formats; reloaded when it changes.',
  },
  allowInsecureNoAuth: {
    name: 'SVC_ALLOW_INSECURE_NO_AUTH',
    type: 'bool',
    default: 'false',
    doc: 'Accepts callers without credentials; rejected in production.',
  },
  allowHeaderPrincipal: {
    name: 'SVC_ALLOW_HEADER_PRINCIPAL',
    type: 'bool',
    default: 'true',
    productionDefault: 'false',
    doc: 'Accepts the headers X-Principal-Id and X-Principal-Role.',
  },
  sessionTtlMs: {
    name: 'SVC_AUTH_SESSION_TTL',
    aliases: ['SVC_SESSION_TTL'],
    type: 'duration',
    min: '1m',
    default: '24h',
    doc: 'Lifetime of a session.',
  },
  jwtHmacSecret: {
    name: 'SVC_JWT_HMAC_SECRET',
    type: 'string',
    secret: true,
    doc: 'Secret of HS256 tokens; the prefix `base64:` marks encoded bytes.',
  },
  jwtPublicKey: { name: 'SVC_JWT_PUBLIC_KEY', type: 'string', doc: 'Public key of RS256 tokens, as PEM.' },
  jwtPublicKeyPath: { name: 'SVC_JWT_PUBLIC_KEY_PATH', type: 'path', doc: 'File of the public key of RS256 tokens.' },
  jwtJwksUrl: {
    name: 'SVC_JWT_JWKS_URL',
    type: 'url',
    doc: 'Key set (JWKS) of the issuer of tokens, for RS256 and ES256.',
  },
  jwtJwksAllowPrivate: {
    name: 'SVC_JWT_JWKS_ALLOW_PRIVATE',
    type: 'bool',
    default: 'false',
    doc: 'Permits a key set at a private address.',
  },
  jwtIssuer: {
    name: 'SVC_JWT_ISSUER',
    type: 'string',
    doc: 'Required issuer of tokens; defaults to svc-dev in development.',
  },
  jwtAudience: {
    name: 'SVC_JWT_AUDIENCE',
    type: 'string',
    doc: 'Required audience of tokens; not checked when unset in development.',
  },
  jwtDefaultRole: {
    name: 'SVC_JWT_DEFAULT_ROLE',
    type: 'string',
    default: 'viewer',
    doc: 'Role of tokens without a role claim.',
  },
  jwtClockSkewMs: {
    name: 'SVC_JWT_CLOCK_SKEW',
    type: 'duration',
    default: '30s',
    doc: `Accepted clock skew for token timestamps, at most ${maxClockSkew}.`,
  },
  jwtRequired: {
    name: 'SVC_JWT_REQUIRED',
    type: 'bool',
    default: 'false',
    doc: 'Requires a JWT; API keys, sessions and cookies are rejected, so sign-in of users must be off.',
  },
  allowedOrigins: {
    name: 'SVC_ALLOWED_ORIGINS',
    aliases: ['SVC_CORS_ALLOW_ORIGINS', 'CORS_ALLOW_ORIGINS'],
    type: 'list',
    doc: 'Browser origins that may call the gateway and open streams.',
  },
  allowedHosts: {
    name: 'SVC_ALLOWED_HOSTS',
    type: 'list',
    doc: 'Accepted Host header names, in addition to addresses and localhost. When unset, production accepts any name and development accepts names without a dot.',
  },
});

type Auth = EnvOf<typeof gatewayAuthVariables> & { readonly skipSecretValidation: boolean };

/** Production requires strong credentials; an incompletely configured mechanism prevents startup in development too. */
export const gatewayAuthRules: Rule<Auth> = (env) => {
  const takesJwt = [env.jwtHmacSecret, env.jwtPublicKey, env.jwtPublicKeyPath, env.jwtJwksUrl].some(
    (key) => key !== undefined,
  );
  const hasKeys = [env.apiKey, env.apiKeys, env.apiKeysPath].some((key) => key !== undefined);
  return [
    ...(env.production && !hasKeys && !env.jwtRequired
      ? [
          {
            name: 'SVC_API_KEY',
            expected: 'an API key in production',
            fix: 'Set it, or SVC_API_KEYS or SVC_API_KEYS_PATH.',
          },
        ]
      : []),
    ...refusedInProduction(
      env.production,
      'SVC_ALLOW_INSECURE_NO_AUTH',
      env.allowInsecureNoAuth,
      'callers need credentials',
    ),
    ...strong(env, 'SVC_API_KEY', env.apiKey, 32),
    ...(env.jwtRequired && !takesJwt
      ? [
          {
            name: 'SVC_JWT_HMAC_SECRET',
            expected: 'a key for tokens, because SVC_JWT_REQUIRED is on',
            fix: 'Set it, or SVC_JWT_PUBLIC_KEY, SVC_JWT_PUBLIC_KEY_PATH or SVC_JWT_JWKS_URL.',
          },
        ]
      : []),
    ...(env.production && env.jwtJwksUrl?.startsWith('http:')
      ? [
          {
            name: 'SVC_JWT_JWKS_URL',
            given: 'an http:// URL',
            expected: 'https:// in production',
            fix: 'Set an https:// URL.',
          },
        ]
      : []),
    ...needed(
      !env.production && env.jwtJwksUrl !== undefined,
      'SVC_JWT_ISSUER',
      env.jwtIssuer,
      'SVC_JWT_JWKS_URL is set',
    ),
    ...needed(env.production && takesJwt, 'SVC_JWT_ISSUER', env.jwtIssuer, 'tokens are accepted in production'),
    ...needed(env.production && takesJwt, 'SVC_JWT_AUDIENCE', env.jwtAudience, 'tokens are accepted in production'),
    ...(env.jwtClockSkewMs > 5 * 60_000
      ? [
          {
            name: 'SVC_JWT_CLOCK_SKEW',
            given: `${env.jwtClockSkewMs}ms`,
            expected: `at most ${maxClockSkew}`,
            fix: 'Lower it.',
          },
        ]
      : []),
  ];
};

/** Sign-in opens a session. With SVC_JWT_REQUIRED every session is refused, also right after sign-in. */
export const signInRules: Rule<Auth & OidcEnv & SamlEnv & { readonly userAuth: boolean }> = (env) => {
  if (!env.jwtRequired) return [];
  return [
    ...withoutSessions('SVC_USER_AUTH_ENABLED', env.userAuth),
    ...withoutSessions('SVC_OIDC_REDIRECT_URI', isOidcOn(env) && env.oidcRedirectUri !== undefined),
    ...withoutSessions('SVC_SAML_ENABLED', isSamlOn(env)),
  ];
};

const withoutSessions = (name: string, isOn: boolean): Problem[] =>
  isOn
    ? [
        {
          name,
          given: 'sign-in with sessions',
          expected: 'no sign-in, because SVC_JWT_REQUIRED refuses sessions',
          fix: 'Unset one of the two.',
        },
      ]
    : [];
