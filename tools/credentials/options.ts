import { parseArgs } from 'node:util';

export interface WorkerOptions {
  pool: string;
  worker: string;
  data: string | undefined;
  json: boolean;
}

/** @returns undefined when help is requested. @throws Error describing an invalid command line */
export function readWorkerOptions(args: string[]): WorkerOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      pool: { type: 'string', default: '' },
      worker: { type: 'string', default: '' },
      data: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const { pool, worker, data, json } = values;
  if (!pool || !worker) throw new Error('--pool and --worker are required; see --help');
  return { pool, worker, data, json };
}

/** Environment variables of a worker process, as read by the worker SDK. */
export const workerEnvironment = (pool: string, access: { worker_id: string; nats_url: string; redis_url: string }) =>
  [
    `WORKER_ID=${access.worker_id}`,
    `SVC_POOL=${pool}`,
    `NATS_URL=${access.nats_url}`,
    `REDIS_URL=${access.redis_url}`,
  ].join('\n');
