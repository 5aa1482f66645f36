import Joi from 'joi';
import { endpoint } from '../endpoint';
import { after, before, cursor, jobId, pageLimit, stringMap, strings, submitTopic, text, waitForEnd } from '../fields';
import { decisionView, jobDetail, jobItem, type DecisionView, type JobDetail, type JobItem } from './job-views';
import { limitFields, type LimitFields } from './job-limits';
import { limits } from '../limits';
import { shape } from '../shape';
import { explainJob } from '../explain/job-explain';

/** See docs/reference/jobs.md#submit-a-job. */
export interface SubmitBody extends LimitFields {
  prompt: string;
  topic: string;
  adapter_id?: string;
  priority: string;
  context?: unknown;
  memory_id?: string;
  context_mode?: string;
  tenant_id?: string;
  org_id?: string;
  team_id?: string;
  project_id?: string;
  principal_id?: string;
  actor_id?: string;
  actor_type?: string;
  idempotency_key?: string;
  pack_id?: string;
  capability?: string;
  estimated_cost?: number;
  risk_tags: string[];
  requires: string[];
  tags: string[];
  labels: Record<string, string>;
  max_input_tokens: number;
  max_output_tokens: number;
  max_total_tokens: number;
  deadline_ms: number;
  queue_ttl_ms: number;
  allow_summarization: boolean;
  allow_retrieval: boolean;
  delegation_token?: string;
  delegation_audience_agent_id?: string;
}

const int64 = (standard: number) => Joi.number().integer().min(0).default(standard);
const name = (description: string) => text(description).max(limits.idChars);

const submitBody = shape<SubmitBody>({
  required: {
    prompt: text('Instruction for the worker. At most 50,000 characters unless the license allows more.').default(''),
    topic: submitTopic.empty('').default('job.default').description('Selects the worker pools that may run the job.'),
    priority: text(
      'interactive, batch or critical; low, normal and high are read as batch, interactive and critical. Empty: the setting `resources.default_priority`, else interactive.',
    ).default(''),
    risk_tags: strings('Risk tags, for policy.').max(limits.tags).default([]),
    requires: strings('Capabilities a pool must offer.').max(limits.tags).default([]),
    tags: strings('Tags.').max(limits.tags).default([]),
    labels: stringMap('Labels; names beginning with _ or reserved for the service are dropped.')
      .max(limits.labels)
      .default({}),
    max_input_tokens: int64(8_000).max(2_147_483_647),
    max_output_tokens: int64(1_024),
    max_total_tokens: int64(0),
    deadline_ms: int64(0).description('Milliseconds after which the job ends in TIMEOUT; 0 = none.'),
    queue_ttl_ms: int64(0).description(
      'Maximum wait for the first dispatch, after which the job ends in TIMEOUT without having run. 0 = until the deadline.',
    ),
    allow_summarization: Joi.boolean().default(false),
    allow_retrieval: Joi.boolean().default(false),
  },
  optional: {
    ...limitFields,
    adapter_id: name('Hint to a worker that hosts several adapters.'),
    context: Joi.any().description('Any JSON; stored with the prompt and passed to the worker.'),
    memory_id: name('Memory the worker may use; a leading mem: is dropped.'),
    context_mode: text('chat, rag or raw; any other value means raw.'),
    tenant_id: name('Must be the caller’s tenant.'),
    org_id: name('Must be the caller’s tenant.'),
    team_id: name('Team.'),
    project_id: name('Project.'),
    principal_id: name('Principal of the job; only admins may name another principal than their own.'),
    actor_id: name('Actor; the principal when absent.'),
    actor_type: Joi.string().valid('human', 'service').empty(''),
    idempotency_key: name(
      'A repeat with the same key and request returns the first response. A header takes precedence.',
    ),
    pack_id: name('Pack.'),
    delegation_token: text('Token with which another agent delegates the job to the agent of the caller.').max(65_536),
    delegation_audience_agent_id: name('Agent that the token is for, when it is not that of the caller.'),
    capability: name('Capability, for policy.'),
    estimated_cost: Joi.number()
      .min(0)
      .max(1_000_000)
      .description(
        'Estimated cost in US dollars: reserved in the budgets before the job runs, and replaced by the cost that the worker reports.',
      ),
  },
});

export interface SubmitQuery {
  idempotency_key?: string;
  'idempotency-key'?: string;
}
export interface SubmitView {
  job_id: string;
  trace_id: string;
  status?: string;
  reason?: string;
}

export const submitJob = endpoint({
  id: 'jobs.submit',
  method: 'post',
  path: '/api/v1/jobs',
  summary: 'Submit a job',
  description:
    'Policy decides synchronously. Allowed: 200. Held for approval: 200 with status approval_required. Denied: 403 policy_denied with the job id. Throttled: 429 policy_throttled. Idempotency key: header Idempotency-Key or X-Idempotency-Key, query, or body.',
  access: { permission: 'jobs.write', roles: ['admin', 'operator', 'user'] },
  audit: 'self',
  params: {},
  query: shape<SubmitQuery>({
    required: {},
    optional: { idempotency_key: name('Idempotency key.'), 'idempotency-key': name('Idempotency key.') },
  }),
  body: submitBody,
  bodyIgnoresUnknown: true,
  bodyLimit: 'job',
  answer: {
    status: 200,
    body: shape<SubmitView>({
      required: { job_id: jobId, trace_id: text('Trace id.') },
      optional: { status: Joi.string().valid('approval_required'), reason: text('Why approval is required.') },
    }),
    headers: {
      'X-Trace-Id': 'Trace id of the job.',
      'Idempotency-Replayed': 'true when an earlier response is replayed.',
    },
  },
  errors: [
    'prompt_is_required',
    'invalid_memory_id',
    'unknown_topic',
    'topic_disabled',
    'schema_validation_failed',
    'tier_limit_exceeded',
    'tenant_access_denied',
    'memory_policy_violation',
    'budget_exceeded',
    'memory_policy_unreadable',
    'access_denied',
    'agent_denied',
    'token_malformed',
    'token_bad_signature',
    'token_unknown_kid',
    'token_not_yet_valid',
    'token_expired',
    'token_revoked',
    'token_audience_mismatch',
    'token_chain_too_deep',
    'token_scope_exceeded',
    'delegation_unavailable',
    'policy_denied',
    'idempotency_conflict',
    'singleton_conflict',
    'backpressure',
    'policy_throttled',
    'safety_unavailable',
    'overloaded',
    'store_unavailable',
  ],
});

export interface GetJobQuery {
  wait_ms: number;
}

export interface ListQuery {
  limit: number;
  cursor?: number;
  state?: string;
  topic?: string;
  tenant?: string;
  team?: string;
  trace_id?: string;
  updated_after?: number;
  updated_before?: number;
}
export interface ListView<Item> {
  items: Item[];
  next_cursor: number | null;
}
export const listView = <Item>(item: Joi.ObjectSchema<Item>): Joi.ObjectSchema<ListView<Item>> =>
  Joi.object({
    items: Joi.array().items(item).required(),
    next_cursor: Joi.number().integer().allow(null).required().description('Pass as cursor; null on the last page.'),
  });

export const listJobs = endpoint({
  id: 'jobs.list',
  method: 'get',
  path: '/api/v1/jobs',
  summary: 'List jobs, newest change first',
  access: { permission: 'jobs.read', roles: 'any' },
  params: {},
  query: shape<ListQuery>({
    required: { limit: pageLimit(50) },
    optional: {
      cursor,
      state: text('Exact state, any case; an unknown state returns an empty list.'),
      topic: text('Exact topic.'),
      tenant: text('Must be the caller’s tenant.'),
      team: text('Exact team.'),
      trace_id: text('Exact trace id.'),
      updated_after: after,
      updated_before: before,
    },
  }),
  answer: { status: 200, body: listView<JobItem>(jobItem) },
  errors: ['tenant_access_denied'],
});

export const getJob = endpoint({
  id: 'jobs.get',
  method: 'get',
  path: '/api/v1/jobs/:id',
  summary: 'Read a job',
  audit: { type: 'governance.read', action: 'output.read', resource: ['job', 'id'] },
  access: { permission: 'jobs.read', roles: 'any' },
  params: { id: jobId },
  query: shape<GetJobQuery>({
    required: {
      wait_ms: waitForEnd('job'),
    },
  }),
  answer: { status: 200, body: jobDetail as Joi.ObjectSchema<JobDetail> },
  errors: ['job_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const jobDecisions = endpoint({
  id: 'jobs.decisions',
  method: 'get',
  path: '/api/v1/jobs/:id/decisions',
  summary: 'Policy decisions about a job, newest first',
  access: { permission: 'jobs.read', roles: 'any' },
  params: { id: jobId },
  query: shape<{ limit: number }>({ required: { limit: pageLimit(50) } }),
  answer: { status: 200, body: Joi.array().items(decisionView) as Joi.ArraySchema<DecisionView[]> },
  errors: ['tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export interface CancelView {
  id: string;
  state: string;
  reason?: string;
}

/** Cancelling a job that has already ended changes nothing, and the response says so. See docs/reference/jobs.md#cancellation. */
export const cancelJob = endpoint({
  id: 'jobs.cancel',
  method: 'post',
  path: '/api/v1/jobs/:id/cancel',
  summary: 'Cancel a job that has not ended',
  access: { permission: 'jobs.write', roles: ['admin'] },
  audit: { type: 'job.request', action: 'job.cancel', resource: ['job', 'id'] },
  params: { id: jobId },
  answer: {
    status: 200,
    body: shape<CancelView>({
      required: { id: jobId, state: text('Current state of the job.') },
      optional: { reason: text('Present when the call changed nothing.') },
    }),
  },
  errors: ['job_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export interface JobRef {
  job_id: string;
  trace_id: string;
}
export const jobRef = shape<JobRef>({ required: { job_id: jobId, trace_id: text('Trace id.') } });

export const remediateJob = endpoint({
  id: 'jobs.remediate',
  method: 'post',
  path: '/api/v1/jobs/:id/remediate',
  summary: 'Resubmit a job with a remediation that policy proposed',
  access: { permission: 'jobs.write', roles: ['admin'] },
  audit: { type: 'job.request', action: 'job.remediate', resource: ['job', 'id'] },
  params: { id: jobId },
  body: shape<{ remediation_id?: string }>({
    required: {},
    optional: { remediation_id: text('Required when policy proposed several.') },
  }),
  bodyOptional: true,
  answer: { status: 200, body: jobRef },
  errors: [
    'job_not_found',
    'remediation_not_found',
    'agent_denied',
    'no_remediations_available',
    'remediation_id_required',
    'singleton_conflict',
    'tenant_access_denied',
    'backpressure',
    'overloaded',
  ],
  otherTenant: 'tenant_access_denied',
});

export const getTrace = endpoint({
  id: 'traces.get',
  method: 'get',
  path: '/api/v1/traces/:id',
  summary: 'Jobs of a trace, oldest first',
  access: { permission: 'jobs.read', roles: 'any' },
  params: { id: Joi.string().max(limits.idChars).description('Trace id.') },
  answer: { status: 200, body: Joi.array().items(jobItem) as Joi.ArraySchema<JobItem[]> },
  errors: [],
  otherTenant: 'nothing',
});

export const jobEndpoints = [
  submitJob,
  listJobs,
  getJob,
  explainJob,
  jobDecisions,
  cancelJob,
  remediateJob,
  getTrace,
] as const;
