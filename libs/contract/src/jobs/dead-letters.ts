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
    reason: text('Reason of the failure.'),
    reason_code: text('Reason code.'),
    last_state: text('Last state before the end.'),
    attempts: count('Number of dispatches.'),
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
  summary: 'Dead letters, paged; cursors are Unix seconds',
  description:
    'Cursors have a resolution of one second, and a page can end within a second. Pass next_tiebreaker together with next_cursor to continue exactly after the last item. Without it the next page starts at the end of that second: items may repeat, and if one second has more items than a page, the remaining ones are not listed.',
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
      next_tiebreaker: Joi.string().description(
        'Pass as tiebreaker together with the cursor; absent on the last page.',
      ),
    }),
  },
  errors: [],
});

export const removeDeadLetter = endpoint({
  id: 'dlq.remove',
  method: 'delete',
  path: '/api/v1/dlq/:job_id',
  summary: 'Delete a dead letter; confirms the quarantine of a quarantined output',
  access: write,
  audit: { type: 'job.request', action: 'dlq.remove', resource: ['job', 'job_id'], severity: 'LOW' },
  params: { job_id: jobId },
  answer: { status: 204 },
  errors: ['tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const retryDeadLetter = endpoint({
  id: 'dlq.retry',
  method: 'post',
  path: '/api/v1/dlq/:job_id/retry',
  summary: 'Retry a dead letter as a new job, with a new policy decision',
  access: write,
  audit: { type: 'job.request', action: 'dlq.retry', resource: ['job', 'job_id'] },
  params: { job_id: jobId },
  answer: { status: 200, body: shape<{ job_id: string }>({ required: { job_id: jobId } }) },
  errors: [
    'dlq_entry_not_found',
    'missing_topic_for_retry',
    'agent_denied',
    'singleton_conflict',
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
  summary: 'Release a quarantined output without rerunning its job',
  description:
    'The job stays OUTPUT_QUARANTINED. Its detail includes result and result_ptr again; output_safety records the caller, time and reason of the release. The dead letter is removed. Returns 409 output_not_releasable if the job is not quarantined or has no output, and 410 if the output is no longer stored.',
  access: write,
  audit: { type: 'safety.output_review', action: 'output.review', resource: ['job', 'job_id'], severity: 'HIGH' },
  params: { job_id: jobId },
  body: shape<ReleaseBody>({
    required: { reason: trimmed().min(1).max(2_000).description('Reason for the release.') },
  }),
  answer: {
    status: 200,
    body: shape<ReleasedView>({ required: { job_id: jobId, result_ptr: text('Pointer to the original output.') } }),
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
