import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, cursor, jobId, pageLimit, text, trimmed } from '../fields';
import { shape } from '../shape';
import { listView, type ListView } from './jobs';

/** See docs/reference/jobs.md#dead-letters. */
export interface DeadLetterView {
  job_id: string;
  created_at: string;
  topic?: string;
  tenant?: string;
  status?: string;
  reason?: string;
  reason_code?: string;
  last_state?: string;
  attempts?: number;
}
const deadLetterView = shape<DeadLetterView>({
  required: { job_id: jobId, created_at: Joi.string().isoDate() },
  optional: {
    topic: text('Topic.'),
    tenant: text('Tenant.'),
    status: text('Bus status, such as JOB_STATUS_FAILED.'),
    reason: text('Why.'),
    reason_code: text('Why, in a word.'),
    last_state: text('State before the end.'),
    attempts: count('How often it was given to a worker.'),
  },
});

const read = { permission: 'dlq.read', roles: ['admin'] } as const;
const write = { permission: 'dlq.write', roles: ['admin'] } as const;

export const listDeadLetters = endpoint({
  id: 'dlq.list',
  method: 'get',
  path: '/api/v1/dlq',
  summary: 'Dead letters, newest first',
  access: read,
  params: {},
  query: shape<{ limit: number }>({ required: { limit: pageLimit(100) } }),
  answer: { status: 200, body: Joi.array().items(deadLetterView) as Joi.ArraySchema<DeadLetterView[]> },
  errors: [],
});

export interface DeadLetterPageQuery {
  limit: number;
  cursor?: number;
  tiebreaker?: string;
}
export interface DeadLetterPageView extends ListView<DeadLetterView> {
  next_tiebreaker?: string;
}

export const pageDeadLetters = endpoint({
  id: 'dlq.page',
  method: 'get',
  path: '/api/v1/dlq/page',
  summary: 'Dead letters page by page; cursors are unix seconds',
  description:
    'A page has at most as many items as its limit, so that it may end within a second. Pass next_tiebreaker back beside next_cursor, and the next page begins exactly after the last item. Without it the next page begins at the end of that second: items of it may repeat, and where one second holds more items than a page, the rest of them is not listed.',
  access: read,
  params: {},
  query: shape<DeadLetterPageQuery>({
    required: { limit: pageLimit(100) },
    optional: {
      cursor,
      tiebreaker: Joi.string()
        .allow('')
        .max(4_096)
        .description('Position within the second of the cursor: next_tiebreaker of the last page, unchanged.'),
    },
  }),
  answer: {
    status: 200,
    body: listView<DeadLetterView>(deadLetterView).append<DeadLetterPageView>({
      next_tiebreaker: Joi.string().description('Pass back as tiebreaker beside the cursor; absent at the end.'),
    }),
  },
  errors: [],
});

export const removeDeadLetter = endpoint({
  id: 'dlq.remove',
  method: 'delete',
  path: '/api/v1/dlq/:job_id',
  summary: 'Delete a dead letter; for a quarantined output this confirms the quarantine',
  access: write,
  params: { job_id: jobId },
  answer: { status: 204 },
  errors: ['tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const retryDeadLetter = endpoint({
  id: 'dlq.retry',
  method: 'post',
  path: '/api/v1/dlq/:job_id/retry',
  summary: 'Run a dead letter again as a new job, decided afresh by policy',
  access: write,
  params: { job_id: jobId },
  answer: { status: 200, body: shape<{ job_id: string }>({ required: { job_id: jobId } }) },
  errors: [
    'dlq_entry_not_found',
    'missing_topic_for_retry',
    'tenant_access_denied',
    'safety_unavailable',
    'backpressure',
    'overloaded',
  ],
  otherTenant: 'tenant_access_denied',
});

export interface ReleaseBody {
  reason: string;
}
export interface ReleasedView {
  job_id: string;
  result_ptr: string;
}

export const releaseDeadLetter = endpoint({
  id: 'dlq.release',
  method: 'post',
  path: '/api/v1/dlq/:job_id/release',
  summary: 'Make a quarantined output readable, without running its job again',
  description:
    'The job stays OUTPUT_QUARANTINED; its detail shows result and result_ptr again, and output_safety who released it, when and why. The dead letter is removed. A job that is no quarantine, or returned nothing, answers 409 output_not_releasable; an output that is no longer kept 410.',
  access: write,
  params: { job_id: jobId },
  body: shape<ReleaseBody>({
    required: { reason: trimmed().min(1).max(2_000).description('Why it may be read.') },
  }),
  answer: {
    status: 200,
    body: shape<ReleasedView>({ required: { job_id: jobId, result_ptr: text('Pointer of the original.') } }),
  },
  errors: ['dlq_entry_not_found', 'output_not_releasable', 'output_expired', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const dlqEndpoints = [
  listDeadLetters,
  pageDeadLetters,
  removeDeadLetter,
  retryDeadLetter,
  releaseDeadLetter,
] as const;
