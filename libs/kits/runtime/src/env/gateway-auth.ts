import { variables, type EnvOf, type Rule } from './declare';
import { needed, refusedInProduction, strong } from './rules';

const maxClockSkew = '5m';

/** Who may call the gateway. */
export const gatewayAuthVariables = variables({
  apiKey: {
    name: 'SVC_API_KEY',
    aliases: ['API_KEY'],
    type: 'string',
    secret: true,
    doc: 'One admin key of the default tenant.',
  },
  apiKeys: {
    name: 'SVC_API_KEYS',
    type: 'string',
    secret: true,
    doc: 'Further keys: comma-separated, `tenant:key:role:principal`, or JSON.',
  },
  apiKeysPath: {
    name: 'SVC_API_KEYS_PATH',
    type: 'path',
    doc: 'File of keys in the same forms; read again when it changes.',
  },
  allowInsecureNoAuth: {
    name: 'SVC_ALLOW_INSECURE_NO_AUTH',
    type: 'bool',
    default: 'false',
    doc: 'Lets callers in without credentials; never in production.',
  },
  allowHeaderPrincipal: {
    name: 'SVC_ALLOW_HEADER_PRINCIPAL',
    type: 'bool',
    default: 'true',
    productionDefault: 'false',
    doc: 'Honours X-Principal-Id and X-Principal-Role.',
  },
  sessionTtlMs: {
    name: 'SVC_AUTH_SESSION_TTL',
    aliases: ['SVC_SESSION_TTL'],
    type: 'duration',
    min: '1m',
    default: '24h',
    doc: 'How long a login lasts.',
  },
  jwtHmacSecret: {
    name: 'SVC_JWT_HMAC_SECRET',
    type: 'string',
    secret: true,
    doc: 'Secret of HS256 tokens; `base64:` before it for raw bytes.',
  },
  jwtPublicKey: { name: 'SVC_JWT_PUBLIC_KEY', type: 'string', doc: 'PEM key of RS256 tokens.' },
  jwtPublicKeyPath: { name: 'SVC_JWT_PUBLIC_KEY_PATH', type: 'path', doc: 'File of that key.' },
  jwtIssuer: {
    name: 'SVC_JWT_ISSUER',
    type: 'string',
    doc: 'Issuer that tokens must name; svc-dev when unset in development.',
  },
  jwtAudience: {
    name: 'SVC_JWT_AUDIENCE',
    type: 'string',
    doc: 'Audience that tokens must name; unchecked when unset in development.',
  },
  jwtDefaultRole: {
    name: 'SVC_JWT_DEFAULT_ROLE',
    type: 'string',
    default: 'viewer',
    doc: 'Role of a token that names none.',
  },
  jwtClockSkewMs: {
    name: 'SVC_JWT_CLOCK_SKEW',
    type: 'duration',
    default: '30s',
    doc: `Leeway of token times, at most ${maxClockSkew}.`,
  },
  jwtRequired: {
    name: 'SVC_JWT_REQUIRED',
    type: 'bool',
    default: 'false',
    doc: 'Refuses API keys and cookies: tokens only.',
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
    doc: 'Host names the gateway may be called by, beside addresses and localhost; unset, production takes any and development those without a dot.',
  },
});

type Auth = EnvOf<typeof gatewayAuthVariables> & { readonly skipSecretValidation: boolean };

/** Production has credentials, and good ones; a half-configured mechanism stops the start everywhere. */
export const gatewayAuthRules: Rule<Auth> = (env) => {
  const takesJwt = [env.jwtHmacSecret, env.jwtPublicKey, env.jwtPublicKeyPath].some((key) => key !== undefined);
  const hasKeys = [env.apiKey, env.apiKeys, env.apiKeysPath].some((key) => key !== undefined);
  return [
    ...(env.production && !hasKeys && !env.jwtRequired
      ? [
          {
            name: 'SVC_API_KEY',
            expected: 'an API key in production',
            mend: 'Set it, or SVC_API_KEYS or SVC_API_KEYS_PATH.',
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
            mend: 'Set it, or SVC_JWT_PUBLIC_KEY or SVC_JWT_PUBLIC_KEY_PATH.',
          },
        ]
      : []),
    ...needed(env.production && takesJwt, 'SVC_JWT_ISSUER', env.jwtIssuer, 'tokens are accepted in production'),
    ...needed(env.production && takesJwt, 'SVC_JWT_AUDIENCE', env.jwtAudience, 'tokens are accepted in production'),
    ...(env.jwtClockSkewMs > 5 * 60_000
      ? [
          {
            name: 'SVC_JWT_CLOCK_SKEW',
            given: `${env.jwtClockSkewMs}ms`,
            expected: `at most ${maxClockSkew}`,
            mend: 'Lower it.',
          },
        ]
      : []),
  ];
};
