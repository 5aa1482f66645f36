import { secretProblem } from '@svc/identity';
import { apiEnv, envFindings, EnvError, readEnv, type ApiEnv } from '@svc/runtime';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { error, type Finding, info, warning } from './finding';

const describe = ({ name, given, expected }: EnvError['problems'][number]): string =>
  `${name}${given === undefined ? ' is not set' : ` is ${given}`}: expected ${expected}`;

/** Reads the environment of the gateway. @returns undefined values when it would not start */
export function readEnvironment(source: NodeJS.ProcessEnv): { env?: ApiEnv; findings: Finding[] } {
  try {
    const { values: env, warnings } = readEnv(apiEnv, source);
    const findings = warnings.map((problem) => warning('environment', describe(problem), problem.fix));
    return { env, findings };
  } catch (problem) {
    if (!(problem instanceof EnvError)) throw problem;
    const findings = problem.problems.map((one) => error('environment', describe(one), one.fix));
    return { findings };
  }
}

/** Settings that weaken the installation, and credentials that are easy to guess. */
export function checkSettings(env: ApiEnv): Finding[] {
  const flags = [
    [env.allowInsecureNoAuth, 'SVC_ALLOW_INSECURE_NO_AUTH', 'requests without credentials are accepted'],
    [env.natsTlsInsecure, 'NATS_TLS_INSECURE', 'the certificate of NATS is not verified'],
    [env.redisTlsInsecure, 'REDIS_TLS_INSECURE', 'the certificate of Redis is not verified'],
    [env.skipSecretValidation, 'SVC_SKIP_SECRET_VALIDATION', 'weak secrets are accepted'],
    [env.allowHeaderPrincipal, 'SVC_ALLOW_HEADER_PRINCIPAL', 'clients name their own principal'],
    [env.natsAllowPlaintext, 'SVC_NATS_ALLOW_PLAINTEXT', 'messages are not encrypted'],
  ] as const;
  const password = new URL(env.redisUrl).password || env.redisPassword;
  const isJwtOn = Boolean(env.jwtHmacSecret ?? env.jwtPublicKey ?? env.jwtPublicKeyPath);
  const weakKey = env.apiKey && secretProblem('api_key', env.apiKey);
  return [
    info('rules', `${env.production ? 'production' : 'development'} rules are in effect`),
    ...flags.flatMap(([isOn, name, what]) =>
      isOn ? [warning('insecure_flag', `${name} is on: ${what}`, `Set ${name}=false.`)] : [],
    ),
    ...envFindings(apiEnv, env).map(({ finding, what, fix }) => warning(finding, what, fix)),
    ...(weakKey
      ? [warning('default_credentials', `SVC_API_KEY ${weakKey}`, 'Generate one: openssl rand -base64 32.')]
      : []),
    ...(password
      ? []
      : [
          warning(
            'default_credentials',
            'Redis is used without a password',
            'Create a user in Redis, and set its name and password in REDIS_URL.',
          ),
        ]),
    ...(isJwtOn && !env.jwtAudience
      ? [
          warning(
            'jwt',
            'tokens for any audience are accepted',
            'Set SVC_JWT_AUDIENCE to the audience of this service.',
          ),
        ]
      : []),
    ...(env.jwtHmacSecret && (env.jwtPublicKey ?? env.jwtPublicKeyPath)
      ? [error('jwt', 'both a shared secret and a public key verify tokens', 'Keep SVC_JWT_PUBLIC_KEY only.')]
      : []),
  ];
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;

/** Certificates of listeners and clients, by the variable that names the file. */
export function checkCertificates(env: ApiEnv, nowMs: number): Finding[] {
  const files = [
    ['GATEWAY_HTTP_TLS_CERT', env.httpTlsCert],
    ['GRPC_TLS_CERT', env.grpcTlsCert],
    ['NATS_TLS_CA', env.natsTlsCa],
    ['NATS_TLS_CERT', env.natsTlsCert],
    ['REDIS_TLS_CA', env.redisTlsCa],
    ['REDIS_TLS_CERT', env.redisTlsCert],
    ['SVC_SAML_CERT_PATH', env.samlCertPath],
  ] as const;
  return files.flatMap(([name, file]) => (file ? checkCertificate(name, file, nowMs) : []));
}

function checkCertificate(name: string, file: string, nowMs: number): Finding[] {
  try {
    const { validTo } = new X509Certificate(readFileSync(file));
    const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS);
    const fix = 'Replace the file; services read it again.';
    if (days < 0) return [error('certificate', `${name} expired on ${validTo}`, fix)];
    const left = days === 1 ? '1 day' : `${days} days`;
    return days <= SOON_DAYS ? [warning('certificate', `${name} expires in ${left}, on ${validTo}`, fix)] : [];
  } catch {
    return [error('certificate', `${name} names a file that is no readable certificate`, 'Set it to a PEM file.')];
  }
}
