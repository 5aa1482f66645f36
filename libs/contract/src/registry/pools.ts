import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, flag, strings, text, trimmed } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';
import { workerView, type WorkerView } from './fleet';

const poolStatus = ['active', 'draining', 'inactive'] as const;

/** The definition of a pool, as writes return it. See docs/reference/routing.md#pools. */
export interface PoolFields {
  name: string;
  status: (typeof poolStatus)[number];
  requires: string[];
  description: string;
}
interface PoolLoad {
  active_jobs: number;
  queued_jobs: number;
  capacity: number;
  utilization: number;
}
export interface PoolView extends PoolFields, PoolLoad {
  workers: number;
}
export interface PoolDetail extends PoolFields, PoolLoad {
  topics: string[];
  workers: WorkerView[];
  drain_started_at?: string;
  drain_timeout_seconds?: number;
}
export interface DrainView {
  name: string;
  status: string;
  drain_started_at: string;
  drain_timeout_seconds: number;
}
export interface PoolBody {
  requires?: string[];
  description?: string;
}
export interface PoolPatch extends PoolBody {
  status?: 'active' | 'inactive';
}

const MAX_CAPABILITIES = 100;
const capabilityChars = 128;
const descriptionChars = 1_024;
/** Drain timeout when none is given, and its maximum; seconds. */
export const drainTimeouts = { standard: 300, max: 3_600 } as const;

const poolFields = {
  name: text('Pool.'),
  status: Joi.string<(typeof poolStatus)[number]>().valid(...poolStatus),
  requires: strings('Capabilities that its workers declare.'),
  description: text('Description.'),
};
const load = {
  active_jobs: count('Jobs that its workers hold.'),
  queued_jobs: count('Jobs that wait for a worker and that it may serve.'),
  capacity: count('Maximum number of jobs of its workers.'),
  utilization: Joi.number().min(0).max(1),
};
const drain = {
  drain_started_at: text('Start of draining.'),
  drain_timeout_seconds: count('Maximum duration of draining in seconds.'),
};

const reads = { permission: 'workers.read', roles: ['admin'] } as const;
const writes = { permission: 'pools.write', roles: ['admin'] } as const;
// Checked by the operation, whose error code differs from that of an invalid parameter.
const name = Joi.string().max(limits.topicChars).description('Pool name.');
const topic = Joi.string().max(limits.topicChars).description('Topic, or a pattern in which * matches one token.');
const invalid = 'pool_invalid_config';
const writeErrors = ['tenant_access_denied', invalid, 'pool_version_conflict'] as const;

const definition = {
  requires: Joi.array()
    .items(trimmed().min(1).max(capabilityChars))
    .max(MAX_CAPABILITIES)
    .description('Capabilities that its workers must declare.'),
  description: Joi.string().allow('').max(descriptionChars).description('Description.'),
};
const violationCodes = Object.fromEntries(
  ['requires', 'description', 'status', 'timeout_seconds'].map((field) => [field, invalid] as const),
);
const definedPool = shape<PoolFields>({ required: poolFields });

export const listPools = endpoint({
  id: 'pools.list',
  method: 'get',
  path: '/api/v1/pools',
  owner: 'installation',
  summary: 'Worker pools with their live load',
  access: reads,
  params: {},
  answer: {
    status: 200,
    body: shape<{ items: PoolView[] }>({
      required: {
        items: Joi.array().items(
          shape<PoolView>({ required: { ...poolFields, workers: count('Live workers.'), ...load } }),
        ),
      },
    }),
  },
  errors: [],
});

export const getPool = endpoint({
  id: 'pools.get',
  method: 'get',
  path: '/api/v1/pools/:name',
  owner: 'installation',
  summary: 'Read a worker pool',
  access: reads,
  params: { name },
  answer: {
    status: 200,
    body: shape<PoolDetail>({
      required: {
        ...poolFields,
        ...load,
        topics: strings('Topics that it serves.'),
        workers: Joi.array().items(workerView),
      },
      optional: drain,
    }),
  },
  errors: ['pool_not_found'],
});

export const createPool = endpoint({
  id: 'pools.create',
  method: 'put',
  path: '/api/v1/pools/:name',
  owner: 'installation',
  summary: 'Create a worker pool',
  access: writes,
  audit: { type: 'governance.config_change', action: 'pool.create', resource: ['pool', 'name'] },
  params: { name },
  body: shape<PoolBody>({ required: {}, optional: definition }),
  bodyOptional: true,
  violationCodes,
  answer: { status: 201, body: definedPool },
  errors: [...writeErrors, 'pool_name_conflict'],
});

export const changePool = endpoint({
  id: 'pools.change',
  method: 'patch',
  path: '/api/v1/pools/:name',
  owner: 'installation',
  summary: 'Change, activate or deactivate a worker pool',
  description: 'Absent fields are unchanged. `active` also ends a drain.',
  access: writes,
  audit: { type: 'governance.config_change', action: 'pool.change', resource: ['pool', 'name'] },
  params: { name },
  body: shape<PoolPatch>({
    required: {},
    optional: {
      ...definition,
      status: Joi.string<'active' | 'inactive'>()
        .valid('active', 'inactive')
        .description('An inactive pool gets no jobs; those that its workers hold continue.'),
    },
  }),
  violationCodes,
  answer: { status: 200, body: definedPool },
  errors: [...writeErrors, 'pool_not_found'],
});

export const removePool = endpoint({
  id: 'pools.remove',
  method: 'delete',
  path: '/api/v1/pools/:name',
  owner: 'installation',
  summary: 'Delete a worker pool that is not draining',
  access: writes,
  audit: { type: 'governance.config_change', action: 'pool.remove', resource: ['pool', 'name'] },
  params: { name },
  query: shape<{ force: boolean }>({
    required: { force: flag(false).description('Also remove the pool from the topics that are mapped to it.') },
  }),
  answer: { status: 204 },
  errors: [...writeErrors, 'pool_not_found', 'pool_in_use'],
});

export const drainPool = endpoint({
  id: 'pools.drain',
  method: 'post',
  path: '/api/v1/pools/:name/drain',
  owner: 'installation',
  summary: 'Stop dispatching to a pool; it becomes inactive when its jobs have ended',
  access: writes,
  audit: { type: 'governance.config_change', action: 'pool.drain', resource: ['pool', 'name'] },
  params: { name },
  body: shape<{ timeout_seconds?: number }>({
    required: {},
    optional: {
      timeout_seconds: Joi.number()
        .integer()
        .max(drainTimeouts.max)
        .description(
          `Maximum duration in seconds, at most ${drainTimeouts.max}; ${drainTimeouts.standard} when absent, zero or negative.`,
        ),
    },
  }),
  bodyOptional: true,
  violationCodes,
  answer: {
    status: 200,
    body: shape<DrainView>({ required: { name: text('Pool.'), status: text('draining'), ...drain } }),
  },
  errors: [...writeErrors, 'pool_not_found'],
});

export const mapTopic = endpoint({
  id: 'pools.mapTopic',
  method: 'put',
  path: '/api/v1/pools/:name/topics/:topic',
  owner: 'installation',
  summary: 'Map a topic to a pool, after the pools that it is mapped to already; idempotent',
  access: writes,
  audit: { type: 'governance.config_change', action: 'pool.map_topic', resource: ['pool', 'name'] },
  params: { name, topic },
  answer: { status: 204 },
  errors: [...writeErrors, 'pool_not_found'],
});

export const unmapTopic = endpoint({
  id: 'pools.unmapTopic',
  method: 'delete',
  path: '/api/v1/pools/:name/topics/:topic',
  owner: 'installation',
  summary: 'Remove a topic from a pool; a topic without pools is removed from the table',
  access: writes,
  audit: { type: 'governance.config_change', action: 'pool.unmap_topic', resource: ['pool', 'name'] },
  params: { name, topic },
  answer: { status: 204 },
  errors: [...writeErrors, 'pool_not_found', 'topic_not_found'],
});

export const poolEndpoints = [
  listPools,
  getPool,
  createPool,
  changePool,
  removePool,
  drainPool,
  mapTopic,
  unmapTopic,
] as const;
