import { hostname } from 'node:os';
import { handshakeDomainPrefix, workerIdPattern } from '@svc/contract';
import { Grants, type GrantSettings } from './grants';
import { PacketTrust } from './packet-trust';
import type { GrantOptions, WorkerOptions } from './types';

export type WorkerSettings = Required<Omit<WorkerOptions, 'nats' | 'queueGroup' | 'redisUrl' | 'grants'>> &
  Pick<WorkerOptions, 'nats' | 'queueGroup' | 'redisUrl'> & { grants: GrantSettings };

/** @throws Error naming the invalid option */
export function workerSettings(options: WorkerOptions, env: NodeJS.ProcessEnv = process.env): WorkerSettings {
  const type = options.type ?? 'cpu';
  const id = options.id ?? (env['WORKER_ID'] || `${type}-${hostname().replace(/[^A-Za-z0-9_-]/g, '-')}`);
  if (!workerIdPattern.test(id)) {
    throw new Error(
      `worker id "${id}" cannot be used: it becomes part of a bus subject, so only letters, digits, _ and - (at most 128)`,
    );
  }
  const topics = Object.keys(options.topics);
  const invalid = topics.find((topic) => !/^job(\.([^\s.*>]+|\*))*(\.>)?$/.test(topic) || topic === 'job');
  if (invalid !== undefined || topics.length === 0) {
    throw new Error(`topics must name at least one topic beginning "job.", not "${invalid ?? ''}"`);
  }
  const concurrency = options.concurrency ?? 1;
  if (!Number.isInteger(concurrency) || concurrency < 1) throw new Error('concurrency must be a whole number from 1');
  const settings = {
    ...defaults,
    pool: env['SVC_POOL'] || 'default',
    natsUrl: env['NATS_URL'] || 'nats://localhost:4222',
    ...(env['REDIS_URL'] && { redisUrl: env['REDIS_URL'] }),
    authToken: env['WORKER_TOKEN'] ?? '',
    signingKey: env['WORKER_SIGNING_KEY'] ?? '',
    serviceKeys: splitKeys(env['SVC_SERVICE_PUBLIC_KEYS'] ?? ''),
    jetstream: !['0', 'false'].includes(env['NATS_USE_JETSTREAM'] ?? '1'),
    ...options,
    grants: grantSettings(options.grants, env),
    id,
    type,
    concurrency,
  };
  requireKeys(settings);
  const { redisUrl, authToken } = settings;
  return { ...settings, ...(redisUrl !== undefined && { redisUrl: addPassword(redisUrl, authToken) }) };
}

/** The token is the password of a user without one. Not of a URL without a user: a Redis without users refuses passwords. */
function addPassword(redisUrl: string, token: string): string {
  if (token === '' || !URL.canParse(redisUrl)) return redisUrl;
  const url = new URL(redisUrl);
  if (url.username === '' || url.password !== '') return redisUrl;
  url.password = token;
  return url.href;
}

/** @throws Error naming the invalid option */
function grantSettings(options: GrantOptions = {}, env: NodeJS.ProcessEnv): GrantSettings {
  const keys = options.keys ?? splitKeys(env['SVC_GRANT_PUBLIC_KEYS'] ?? '');
  const mode = options.mode ?? (env['WORKER_GRANTS'] || (keys.length > 0 ? 'enforce' : 'off'));
  if (!isGrantMode(mode)) throw new Error(`WORKER_GRANTS must be off, warn or enforce, not "${mode}"`);
  if (mode !== 'off' && keys.length === 0) throw new Error(`grants.mode is ${mode}, which needs grants.keys`);
  const settings = { require: 'all', approvalTopics: [], ...options, keys, mode } as const;
  try {
    new Grants(settings, '', () => undefined);
  } catch {
    throw new Error('grants.keys must be Ed25519 public keys in PEM');
  }
  return settings;
}

const isGrantMode = (mode: string): mode is GrantSettings['mode'] => ['off', 'warn', 'enforce'].includes(mode);

const keyEnd = '-----END PUBLIC KEY-----';
/** Omits the cause, which may contain a part of a key. */
function requireKeys(settings: Pick<WorkerSettings, 'signingKey' | 'serviceKeys'>): void {
  const parts = { signingKey: { ...settings, serviceKeys: [] }, serviceKeys: { ...settings, signingKey: '' } };
  for (const [name, part] of Object.entries(parts)) {
    try {
      new PacketTrust(part);
    } catch {
      throw new Error(`${name} must be P-256 keys in PEM`);
    }
  }
}

/** Keys in PEM that follow each other. */
const splitKeys = (text: string): string[] =>
  text
    .split(keyEnd)
    .filter((part) => part.trim() !== '')
    .map((part) => part + keyEnd);

const defaults = {
  capabilities: [],
  labels: {},
  region: '',
  agentName: '',
  sessions: true,
  effects: false,
  handshakeDomainPrefix,
  heartbeatMs: 5_000,
  graceMs: 10_000,
  ackWaitMs: 60_000,
  maxDeliveries: 5,
  resultTtlSec: 86_400,
  signals: ['SIGTERM', 'SIGINT'],
  onError: (error, where) => console.error(`worker: ${where}:`, error),
} as const satisfies Partial<WorkerOptions>;
