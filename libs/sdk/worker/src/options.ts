import { hostname } from 'node:os';
import { workerIdPattern } from '@svc/contract';
import type { WorkerOptions } from './types';

export type WorkerSettings = Required<Omit<WorkerOptions, 'nats' | 'queueGroup' | 'redisUrl'>> &
  Pick<WorkerOptions, 'nats' | 'queueGroup' | 'redisUrl'>;

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
  return {
    ...defaults,
    pool: env['SVC_POOL'] || 'default',
    natsUrl: env['NATS_URL'] || 'nats://localhost:4222',
    ...(env['REDIS_URL'] && { redisUrl: env['REDIS_URL'] }),
    jetstream: !['0', 'false'].includes(env['NATS_USE_JETSTREAM'] ?? '1'),
    ...options,
    id,
    type,
    concurrency,
  };
}

const defaults = {
  capabilities: [],
  labels: {},
  region: '',
  agentName: '',
  authToken: '',
  heartbeatMs: 5_000,
  graceMs: 10_000,
  ackWaitMs: 60_000,
  maxDeliveries: 5,
  resultTtlSec: 86_400,
  signals: ['SIGTERM', 'SIGINT'],
  onError: (error, where) => console.error(`worker: ${where}:`, error),
} as const satisfies Partial<WorkerOptions>;
