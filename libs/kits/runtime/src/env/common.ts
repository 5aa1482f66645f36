import { hostname } from 'node:os';
import { variables, type EnvOf, type Rule } from './declare';
import { environments, environmentSpellings } from './environments';
import { encrypted, needed, pair, refusedInProduction, strong } from './rules';

const about = variables({
  environment: {
    name: 'SVC_ENV',
    type: 'enum',
    choices: environments,
    spellings: environmentSpellings,
    default: 'development',
    doc: 'production (or prod) enforces the production rules. An unknown value prevents startup.',
  },
  productionFlag: {
    name: 'SVC_PRODUCTION',
    type: 'bool',
    default: 'false',
    doc: 'Enforces the production rules, like SVC_ENV=production.',
  },
  logLevel: {
    name: 'SVC_LOG_LEVEL',
    type: 'enum',
    choices: ['debug', 'info', 'warn', 'error'],
    default: 'info',
    doc: 'Minimum severity of log lines.',
  },
  logFormat: {
    name: 'SVC_LOG_FORMAT',
    type: 'enum',
    choices: ['text', 'json'],
    default: 'text',
    doc: 'Format of log lines.',
  },
  instanceId: {
    name: 'SVC_INSTANCE_ID',
    type: 'string',
    default: hostname(),
    shownDefault: 'host name',
    doc: 'Name of this replica: `pod` label of its metrics and owner prefix of its locks.',
  },
  startWaitMs: {
    name: 'SVC_START_WAIT',
    type: 'duration',
    min: '1s',
    default: '5m',
    doc: 'Time a start waits for Redis, and then for NATS, before the process exits with code 75.',
  },
  tlsMinVersion: {
    name: 'SVC_TLS_MIN_VERSION',
    type: 'enum',
    choices: ['1.2', '1.3'],
    default: '1.2',
    productionDefault: '1.3',
    doc: 'Minimum TLS version of all listeners and clients.',
  },
  defaultTenant: {
    name: 'TENANT_ID',
    type: 'string',
    default: 'default',
    doc: 'Tenant of a single-tenant installation.',
  },
  skipSecretValidation: {
    name: 'SVC_SKIP_SECRET_VALIDATION',
    type: 'bool',
    default: 'false',
    doc: 'Accepts weak secrets in production.',
  },
  poolConfigPath: {
    name: 'POOL_CONFIG_PATH',
    type: 'path',
    default: 'config/pools.yaml',
    doc: 'File of worker pools and topics.',
  },
  timeoutConfigPath: {
    name: 'TIMEOUT_CONFIG_PATH',
    type: 'path',
    default: 'config/timeouts.yaml',
    doc: 'File of job timeouts per topic and reconciler timeouts.',
  },
});

const license = variables({
  licenseFile: {
    name: 'SVC_LICENSE_FILE',
    type: 'path',
    doc: 'License file; without a license the service runs as Community.',
  },
  licenseToken: { name: 'SVC_LICENSE_TOKEN', type: 'string', secret: true, doc: 'The license itself, or its base64.' },
  licensePublicKey: {
    name: 'SVC_LICENSE_PUBLIC_KEY',
    type: 'string',
    doc: 'Ed25519 public key that verifies licenses.',
  },
  licensePublicKeyPath: { name: 'SVC_LICENSE_PUBLIC_KEY_PATH', type: 'path', doc: 'File of the license public key.' },
});

/** Settings that must be equal on the gateway and the scheduler. */
const jobs = variables({
  approvalTtlMs: {
    name: 'SVC_APPROVAL_TTL',
    type: 'duration',
    min: '1s',
    default: '24h',
    doc: 'Time a held job waits for an approval before it is denied.',
  },
  dlqEntryTtlDays: {
    name: 'SVC_DLQ_ENTRY_TTL_DAYS',
    type: 'int',
    min: 1,
    default: '30',
    doc: 'Retention of dead letters, in days.',
  },
  defaultDeadline: {
    name: 'SVC_DEFAULT_DEADLINE',
    type: 'bool',
    default: 'false',
    doc: 'Applies resources.default_timeout_seconds of the config, or 60 s, to jobs submitted without a deadline.',
  },
  policyCheckFailMode: {
    name: 'POLICY_CHECK_FAIL_MODE',
    type: 'enum',
    choices: ['closed', 'open'],
    default: 'closed',
    doc: 'Handling of jobs while policy evaluation is unavailable: closed denies them, open lets them run.',
  },
  workerHeartbeatTtlMs: {
    name: 'WORKER_HEARTBEAT_TTL',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'Time after its last heartbeat at which a worker counts as lost and its jobs are retried.',
  },
});

const bus = variables({
  natsUrl: {
    name: 'NATS_URL',
    type: 'url',
    default: 'nats://localhost:4222',
    requiredInProduction: true,
    doc: 'NATS server; tls:// in production. May contain user and password.',
  },
  natsJetStream: {
    name: 'NATS_USE_JETSTREAM',
    type: 'bool',
    default: 'true',
    doc: 'Uses JetStream, so that events survive a NATS restart.',
  },
  natsAckWaitMs: {
    name: 'NATS_JS_ACK_WAIT',
    type: 'duration',
    min: '1s',
    default: '60s',
    doc: 'Time after which an unacknowledged message is redelivered.',
  },
  natsMaxAgeMs: {
    name: 'NATS_JS_MAX_AGE',
    type: 'duration',
    min: '1m',
    default: '7d',
    doc: 'Retention of messages in streams.',
  },
  natsReplicas: {
    name: 'NATS_JS_REPLICAS',
    type: 'int',
    min: 1,
    max: 5,
    default: '1',
    doc: 'Replicas of each stream in a cluster.',
  },
  natsMaxAckPending: {
    name: 'NATS_MAX_ACK_PENDING',
    type: 'int',
    min: 1,
    max: 50_000,
    default: '2048',
    doc: 'Maximum unacknowledged messages per consumer.',
  },
  natsPingIntervalMs: {
    name: 'NATS_PING_INTERVAL',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'Interval between pings to NATS.',
  },
  natsUsername: {
    name: 'NATS_USERNAME',
    type: 'string',
    doc: 'NATS user; user and password take precedence over the token, the nkey and the credentials in NATS_URL.',
  },
  natsPassword: { name: 'NATS_PASSWORD', type: 'string', secret: true, doc: 'Password of NATS_USERNAME.' },
  natsToken: { name: 'NATS_TOKEN', type: 'string', secret: true, doc: 'NATS token.' },
  natsNkey: { name: 'NATS_NKEY', type: 'string', secret: true, doc: 'NATS nkey seed.' },
  natsTlsCa: {
    name: 'NATS_TLS_CA',
    type: 'path',
    doc: 'Certificate authority that must have issued the NATS certificate.',
  },
  natsTlsCert: { name: 'NATS_TLS_CERT', type: 'path', doc: 'Client certificate for NATS.' },
  natsTlsKey: { name: 'NATS_TLS_KEY', type: 'path', doc: 'Key of NATS_TLS_CERT.' },
  natsTlsServerName: {
    name: 'NATS_TLS_SERVER_NAME',
    type: 'string',
    doc: 'Server name expected in the NATS certificate.',
  },
  natsTlsInsecure: {
    name: 'NATS_TLS_INSECURE',
    type: 'bool',
    default: 'false',
    doc: 'Skips verification of the NATS certificate.',
  },
  natsAllowPlaintext: {
    name: 'SVC_NATS_ALLOW_PLAINTEXT',
    type: 'bool',
    default: 'false',
    doc: 'Permits nats:// in production, for a connection that a service mesh encrypts.',
  },
});

const store = variables({
  redisUrl: {
    name: 'REDIS_URL',
    type: 'url',
    default: 'redis://localhost:6379',
    requiredInProduction: true,
    doc: 'Redis server; rediss:// in production. May contain user and password.',
  },
  redisPassword: {
    name: 'REDIS_PASSWORD',
    type: 'string',
    secret: true,
    doc: 'Redis password, used when REDIS_URL contains none.',
  },
  redisClusterAddresses: {
    name: 'REDIS_CLUSTER_ADDRESSES',
    type: 'list',
    doc: 'Seed nodes of a Redis Cluster as host:port; REDIS_URL then supplies scheme and credentials.',
  },
  redisDialTimeoutMs: {
    name: 'REDIS_DIAL_TIMEOUT',
    type: 'duration',
    min: '100ms',
    default: '5s',
    doc: 'Timeout of a Redis connection attempt.',
  },
  redisReadTimeoutMs: {
    name: 'REDIS_READ_TIMEOUT',
    type: 'duration',
    min: '100ms',
    default: '3s',
    doc: 'Timeout of a Redis command.',
  },
  redisTlsCa: {
    name: 'REDIS_TLS_CA',
    type: 'path',
    doc: 'Certificate authority that must have issued the Redis certificate.',
  },
  redisTlsCert: { name: 'REDIS_TLS_CERT', type: 'path', doc: 'Client certificate for Redis.' },
  redisTlsKey: { name: 'REDIS_TLS_KEY', type: 'path', doc: 'Key of REDIS_TLS_CERT.' },
  redisTlsServerName: {
    name: 'REDIS_TLS_SERVER_NAME',
    type: 'string',
    doc: 'Server name expected in the Redis certificate.',
  },
  redisTlsInsecure: {
    name: 'REDIS_TLS_INSECURE',
    type: 'bool',
    default: 'false',
    doc: 'Skips verification of the Redis certificate.',
  },
  redisMinReplicas: {
    name: 'SVC_REDIS_MIN_REPLICAS',
    type: 'int',
    min: 0,
    default: '0',
    doc: 'Minimum replicas that Redis must require for a write; production does not start with a lower Redis setting.',
  },
  redisMemoryLimitBytes: {
    name: 'SVC_REDIS_MEMORY_LIMIT',
    type: 'int',
    min: 0,
    default: '0',
    doc: 'Bytes of memory available to a Redis that has no maxmemory setting; 0 = unknown.',
  },
  dataTtlMs: {
    name: 'REDIS_DATA_TTL',
    secondsName: 'REDIS_DATA_TTL_SECONDS',
    type: 'duration',
    min: '1m',
    default: '24h',
    doc: 'Retention of job inputs and results.',
  },
  jobMetaTtlMs: {
    name: 'JOB_META_TTL',
    secondsName: 'JOB_META_TTL_SECONDS',
    type: 'duration',
    min: '1m',
    default: '168h',
    doc: 'Retention of job records; a record is never removed before its job ends.',
  },
  idempotencyTtlMs: {
    name: 'SVC_IDEMPOTENCY_TTL',
    type: 'duration',
    min: '1m',
    default: '90d',
    doc: 'Retention of idempotency keys.',
  },
  runRetentionMs: {
    name: 'SVC_RUN_RETENTION',
    type: 'duration',
    min: '1m',
    default: '30d',
    doc: 'Retention of ended workflow runs.',
  },
});

/** Variables of every service. */
export const commonVariables = { ...about, ...license, ...jobs, ...bus, ...store };

/** Certificates of a listener come in pairs; production refuses plaintext and unchecked certificates. */
export const commonRules: Rule<EnvOf<typeof commonVariables>> = (env) => [
  ...encrypted(env.production, 'REDIS_URL', env.redisUrl, 'rediss'),
  ...(env.natsAllowPlaintext
    ? []
    : encrypted(
        env.production,
        'NATS_URL',
        env.natsUrl,
        'tls',
        ', or set SVC_NATS_ALLOW_PLAINTEXT=true behind a service mesh that encrypts',
      )),
  ...refusedInProduction(env.production, 'NATS_TLS_INSECURE', env.natsTlsInsecure, 'set NATS_TLS_CA instead'),
  ...refusedInProduction(env.production, 'REDIS_TLS_INSECURE', env.redisTlsInsecure, 'set REDIS_TLS_CA instead'),
  ...pair('NATS_TLS_CERT', env.natsTlsCert, 'NATS_TLS_KEY', env.natsTlsKey),
  ...pair('REDIS_TLS_CERT', env.redisTlsCert, 'REDIS_TLS_KEY', env.redisTlsKey),
  ...needed(env.natsUsername !== undefined, 'NATS_PASSWORD', env.natsPassword, 'NATS_USERNAME is set'),
  ...strong(env, 'REDIS_PASSWORD', env.redisPassword, 12),
];
