import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, pageLimit, stringMap, strings, text } from '../fields';
import { jobItem, type JobItem } from '../jobs/job-views';
import { shape } from '../shape';

/** See docs/reference/routing.md#liveness. */
export interface WorkerView {
  worker_id: string;
  pool: string;
  region: string;
  type: string;
  active_jobs: number;
  max_parallel_jobs: number;
  capabilities: string[];
  labels: Record<string, string>;
  cpu_load: number;
  memory_load: number;
  gpu_utilization: number;
  last_heartbeat_at: string;
  last_heartbeat: string;
  heartbeat_age_seconds: number;
  online: boolean;
  session_state: string;
  session_valid: boolean;
  session_exp_ms?: number;
  session_revoked?: boolean;
  attested?: boolean;
  agent_name?: string;
  ready_topics?: string[];
  draining?: boolean;
}
const percent = (description: string) => Joi.number().min(0).description(description);
export const workerView = shape<WorkerView>({
  required: {
    worker_id: text('Worker id.'),
    pool: text('Pool.'),
    region: text('Region.'),
    type: text('Kind of worker.'),
    active_jobs: count('Jobs that it holds.'),
    max_parallel_jobs: count('Maximum number of jobs; 0 = not reported.'),
    capabilities: strings('Capabilities.'),
    labels: stringMap('Placement labels.'),
    cpu_load: percent('CPU load in percent.'),
    memory_load: percent('Memory load in percent.'),
    gpu_utilization: percent('GPU utilization in percent.'),
    last_heartbeat_at: text('Time of the last heartbeat.'),
    last_heartbeat: text('Same as last_heartbeat_at.'),
    heartbeat_age_seconds: count('Age of the last heartbeat in seconds.'),
    online: Joi.boolean(),
    session_state: Joi.string().valid(
      'valid',
      'no_session',
      'session_expired',
      'session_revoked',
      'trust_store_unready',
    ),
    session_valid: Joi.boolean(),
  },
  optional: {
    session_exp_ms: count('End of its session, unix ms; absent without one.'),
    session_revoked: Joi.boolean().description('Present when its session was revoked.'),
    attested: Joi.boolean().description('Whether it has a valid credential; absent where workers are not attested.'),
    agent_name: text('Display name of the agent.'),
    ready_topics: strings('Topics that it announced.'),
    draining: Joi.boolean(),
  },
});

const workers = { permission: 'workers.read', roles: ['admin'] } as const;
const workerId = Joi.string().min(1).max(256).description('Worker id.');

export const listWorkers = endpoint({
  id: 'workers.list',
  method: 'get',
  path: '/api/v1/workers',
  owner: 'installation',
  summary: 'Live workers',
  access: workers,
  params: {},
  answer: {
    status: 200,
    body: shape<{ items: WorkerView[] }>({ required: { items: Joi.array().items(workerView) } }),
  },
  errors: [],
});

export const getWorker = endpoint({
  id: 'workers.get',
  method: 'get',
  path: '/api/v1/workers/:id',
  owner: 'installation',
  summary: 'Read a worker',
  access: workers,
  params: { id: workerId },
  answer: { status: 200, body: workerView },
  errors: ['worker_not_found'],
});

export const workerJobs = endpoint({
  id: 'workers.jobs',
  method: 'get',
  path: '/api/v1/workers/:id/jobs',
  owner: 'installation',
  summary: 'Jobs of the caller’s tenant that were dispatched to a worker, newest first',
  access: workers,
  params: { id: workerId },
  query: shape<{ limit: number }>({ required: { limit: pageLimit(20, 100) } }),
  answer: { status: 200, body: shape<{ items: JobItem[] }>({ required: { items: Joi.array().items(jobItem) } }) },
  errors: ['worker_not_found'],
});

export const fleetEndpoints = [listWorkers, getWorker, workerJobs] as const;
