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
    doc: 'production (or prod) turns on the strict rules. A value that is not known stops the start.',
  },
  productionFlag: { name: 'SVC_PRODUCTION', type: 'bool', default: 'false', doc: 'Turns on the strict rules as well.' },
  logLevel: {
    name: 'SVC_LOG_LEVEL',
    type: 'enum',
    choices: ['debug', 'info', 'warn', 'error'],
    default: 'info',
    doc: 'The least severe level that is logged.',
  },
  logFormat: {
    name: 'SVC_LOG_FORMAT',
    type: 'enum',
    choices: ['text', 'json'],
    default: 'text',
    doc: 'Log lines for people or for machines.',
  },
  instanceId: {
    name: 'SVC_INSTANCE_ID',
    type: 'string',
    default: hostname(),
    shownDefault: 'host name',
    doc: 'Name of this replica: label `pod` of its metrics, and prefix of the locks it holds.',
  },
  startWaitMs: {
    name: 'SVC_START_WAIT',
    type: 'duration',
    min: '1s',
    default: '5m',
    doc: 'How long a start waits for Redis and for NATS, each; then the process exits with 75.',
  },
  tlsMinVersion: {
    name: 'SVC_TLS_MIN_VERSION',
    type: 'enum',
    choices: ['1.2', '1.3'],
    default: '1.2',
    productionDefault: '1.3',
    doc: 'The lowest TLS version of every listener and client.',
  },
  defaultTenant: {
    name: 'TENANT_ID',
    type: 'string',
    default: 'default',
    doc: 'The tenant of a single-tenant installation.',
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
    doc: 'Worker pools and topics.',
  },
  timeoutConfigPath: {
    name: 'TIMEOUT_CONFIG_PATH',
    type: 'path',
    default: 'config/timeouts.yaml',
    doc: 'Timeouts of jobs by topic, and of the reconciler.',
  },
});

const license = variables({
  licenseFile: { name: 'SVC_LICENSE_FILE', type: 'path', doc: 'License; without one the service runs as Community.' },
  licenseToken: { name: 'SVC_LICENSE_TOKEN', type: 'string', secret: true, doc: 'The license itself, or its base64.' },
  licensePublicKey: {
    name: 'SVC_LICENSE_PUBLIC_KEY',
    type: 'string',
    doc: 'Ed25519 key that licenses are checked with.',
  },
  licensePublicKeyPath: { name: 'SVC_LICENSE_PUBLIC_KEY_PATH', type: 'path', doc: 'File of that key.' },
});

/** What the gateway and the scheduler must agree on. */
const jobs = variables({
  approvalTtlMs: {
    name: 'SVC_APPROVAL_TTL',
    type: 'duration',
    min: '1s',
    default: '24h',
    doc: 'How long a held job waits for a person before it is denied.',
  },
  dlqEntryTtlDays: {
    name: 'SVC_DLQ_ENTRY_TTL_DAYS',
    type: 'int',
    min: 1,
    default: '30',
    doc: 'Days a dead letter is kept.',
  },
  defaultDeadline: {
    name: 'SVC_DEFAULT_DEADLINE',
    type: 'bool',
    default: 'false',
    doc: 'A job that asks for no deadline gets resources.default_timeout_seconds of the config, else 60 s.',
  },
  policyCheckFailMode: {
    name: 'POLICY_CHECK_FAIL_MODE',
    type: 'enum',
    choices: ['closed', 'open'],
    default: 'closed',
    doc: 'When policy does not answer: refuse, or let jobs through.',
  },
  workerHeartbeatTtlMs: {
    name: 'WORKER_HEARTBEAT_TTL',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'A worker is gone this long after its last heartbeat; its jobs are then tried again.',
  },
});

const bus = variables({
  natsUrl: {
    name: 'NATS_URL',
    type: 'url',
    default: 'nats://localhost:4222',
    requiredInProduction: true,
    doc: 'The message bus; tls:// in production. May contain user and password.',
  },
  natsJetStream: { name: 'NATS_USE_JETSTREAM', type: 'bool', default: 'true', doc: 'Durable streams on the bus.' },
  natsAckWaitMs: {
    name: 'NATS_JS_ACK_WAIT',
    type: 'duration',
    min: '1s',
    default: '60s',
    doc: 'After this time without acknowledgement a message is delivered again.',
  },
  natsMaxAgeMs: {
    name: 'NATS_JS_MAX_AGE',
    type: 'duration',
    min: '1m',
    default: '7d',
    doc: 'How long streams keep messages.',
  },
  natsReplicas: {
    name: 'NATS_JS_REPLICAS',
    type: 'int',
    min: 1,
    max: 5,
    default: '1',
    doc: 'Copies of each stream in a cluster.',
  },
  natsMaxAckPending: {
    name: 'NATS_MAX_ACK_PENDING',
    type: 'int',
    min: 1,
    max: 50_000,
    default: '2048',
    doc: 'Unacknowledged messages a consumer may hold.',
  },
  natsPingIntervalMs: {
    name: 'NATS_PING_INTERVAL',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'How often the bus is pinged.',
  },
  natsUsername: {
    name: 'NATS_USERNAME',
    type: 'string',
    doc: 'Bus credentials; user and password come before token, nkey and the credentials in NATS_URL.',
  },
  natsPassword: { name: 'NATS_PASSWORD', type: 'string', secret: true, doc: 'Password of NATS_USERNAME.' },
  natsToken: { name: 'NATS_TOKEN', type: 'string', secret: true, doc: 'Bus token.' },
  natsNkey: { name: 'NATS_NKEY', type: 'string', secret: true, doc: 'Bus nkey seed.' },
  natsTlsCa: { name: 'NATS_TLS_CA', type: 'path', doc: 'Authority that the bus certificate must come from.' },
  natsTlsCert: { name: 'NATS_TLS_CERT', type: 'path', doc: 'Client certificate shown to the bus.' },
  natsTlsKey: { name: 'NATS_TLS_KEY', type: 'path', doc: 'Key of NATS_TLS_CERT.' },
  natsTlsServerName: { name: 'NATS_TLS_SERVER_NAME', type: 'string', doc: 'Name expected in the bus certificate.' },
  natsTlsInsecure: {
    name: 'NATS_TLS_INSECURE',
    type: 'bool',
    default: 'false',
    doc: 'Does not check the bus certificate.',
  },
  natsAllowPlaintext: {
    name: 'SVC_NATS_ALLOW_PLAINTEXT',
    type: 'bool',
    default: 'false',
    doc: 'Permits nats:// in production, for a bus behind a mesh that encrypts.',
  },
});

const store = variables({
  redisUrl: {
    name: 'REDIS_URL',
    type: 'url',
    default: 'redis://localhost:6379',
    requiredInProduction: true,
    doc: 'The store; rediss:// in production. May contain user and password.',
  },
  redisPassword: {
    name: 'REDIS_PASSWORD',
    type: 'string',
    secret: true,
    doc: 'Used when REDIS_URL carries no password.',
  },
  redisClusterAddresses: {
    name: 'REDIS_CLUSTER_ADDRESSES',
    type: 'list',
    doc: 'Seeds host:port of a cluster; REDIS_URL then gives scheme and credentials.',
  },
  redisDialTimeoutMs: {
    name: 'REDIS_DIAL_TIMEOUT',
    type: 'duration',
    min: '100ms',
    default: '5s',
    doc: 'Limit of one connection attempt.',
  },
  redisReadTimeoutMs: {
    name: 'REDIS_READ_TIMEOUT',
    type: 'duration',
    min: '100ms',
    default: '3s',
    doc: 'Limit of one command.',
  },
  redisTlsCa: { name: 'REDIS_TLS_CA', type: 'path', doc: 'Authority that the store certificate must come from.' },
  redisTlsCert: { name: 'REDIS_TLS_CERT', type: 'path', doc: 'Client certificate shown to the store.' },
  redisTlsKey: { name: 'REDIS_TLS_KEY', type: 'path', doc: 'Key of REDIS_TLS_CERT.' },
  redisTlsServerName: { name: 'REDIS_TLS_SERVER_NAME', type: 'string', doc: 'Name expected in the store certificate.' },
  redisTlsInsecure: {
    name: 'REDIS_TLS_INSECURE',
    type: 'bool',
    default: 'false',
    doc: 'Does not check the store certificate.',
  },
  redisMinReplicas: {
    name: 'SVC_REDIS_MIN_REPLICAS',
    type: 'int',
    min: 0,
    default: '0',
    doc: 'Replicas that must have a write before it counts: Redis must be set so, or production does not start.',
  },
  redisMemoryLimitBytes: {
    name: 'SVC_REDIS_MEMORY_LIMIT',
    type: 'int',
    min: 0,
    default: '0',
    doc: 'Bytes of memory that Redis may use where it has no maxmemory of its own; 0 = not known.',
  },
  dataTtlMs: {
    name: 'REDIS_DATA_TTL',
    secondsName: 'REDIS_DATA_TTL_SECONDS',
    type: 'duration',
    min: '1m',
    default: '24h',
    doc: 'How long inputs and results of jobs are kept.',
  },
  jobMetaTtlMs: {
    name: 'JOB_META_TTL',
    secondsName: 'JOB_META_TTL_SECONDS',
    type: 'duration',
    min: '1m',
    default: '168h',
    doc: 'How long job records are kept, at least until the job has ended.',
  },
  idempotencyTtlMs: {
    name: 'SVC_IDEMPOTENCY_TTL',
    type: 'duration',
    min: '1m',
    default: '90d',
    doc: 'How long an idempotency key is remembered.',
  },
  runRetentionMs: {
    name: 'SVC_RUN_RETENTION',
    type: 'duration',
    min: '1m',
    default: '30d',
    doc: 'How long ended runs are kept.',
  },
});

/** What every service reads. */
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
        ', or set SVC_NATS_ALLOW_PLAINTEXT=true behind a mesh that encrypts',
      )),
  ...refusedInProduction(env.production, 'NATS_TLS_INSECURE', env.natsTlsInsecure, 'set NATS_TLS_CA instead'),
  ...refusedInProduction(env.production, 'REDIS_TLS_INSECURE', env.redisTlsInsecure, 'set REDIS_TLS_CA instead'),
  ...pair('NATS_TLS_CERT', env.natsTlsCert, 'NATS_TLS_KEY', env.natsTlsKey),
  ...pair('REDIS_TLS_CERT', env.redisTlsCert, 'REDIS_TLS_KEY', env.redisTlsKey),
  ...needed(env.natsUsername !== undefined, 'NATS_PASSWORD', env.natsPassword, 'NATS_USERNAME is set'),
  ...strong(env, 'REDIS_PASSWORD', env.redisPassword, 12),
];
