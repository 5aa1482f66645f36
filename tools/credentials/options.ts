import { parseArgs } from 'node:util';

export interface WorkerOptions {
  pool: string;
  worker: string;
  data: string | undefined;
  json: boolean;
}

/** @returns undefined when help is asked for. @throws Error saying what is wrong with the command line */
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
  if (!pool || !worker) throw new Error('--pool and --worker are needed; --help lists the options');
  return { pool, worker, data, json };
}

/** What a worker process reads from its environment; the names are those of the worker SDK. */
export const workerEnvironment = (pool: string, access: { worker_id: string; nats_url: string; redis_url: string }) =>
  [
    `WORKER_ID=${access.worker_id}`,
    `SVC_POOL=${pool}`,
    `NATS_URL=${access.nats_url}`,
    `REDIS_URL=${access.redis_url}`,
  ].join('\n');
