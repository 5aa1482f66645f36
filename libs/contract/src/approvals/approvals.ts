import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, cursor, flag, jobId, micros, pageLimit, text } from '../fields';
import { shape } from '../shape';
import { approvalContext } from './approval-context';
import { repairApproval } from './approval-repair';
import { approvalView, type ApprovalView } from './approval-view';
import { listView } from '../jobs/jobs';

export * from './approval-context';
export * from './approval-repair';
export type { ApprovalView, DecisionSummary, PolicySnapshotSummary } from './approval-view';

export const listApprovals = endpoint({
  id: 'approvals.list',
  method: 'get',
  path: '/api/v1/approvals',
  summary: 'Approvals, newest first',
  access: { permission: 'jobs.approve', roles: ['admin'] },
  params: {},
  query: shape<{ limit: number; include_resolved: boolean; cursor?: number }>({
    required: {
      limit: pageLimit(100),
      include_resolved: flag(true).description('false returns pending approvals only.'),
    },
    optional: { cursor },
  }),
  answer: { status: 200, body: listView<ApprovalView>(approvalView) },
  errors: [],
});

export interface ApprovalBody {
  reason: string;
  note: string;
}
const approvalBody = shape<ApprovalBody>({
  required: {
    reason: text('Reason; secrets are redacted, at most 512 bytes are kept.').max(10_000).default(''),
    note: text('Note; secrets are redacted, at most 512 bytes are kept.').max(10_000).default(''),
  },
});

export interface ApproveView {
  job_id: string;
  trace_id: string;
  status?: string;
  approved_by?: string;
  approved_at?: number;
  /** Set while an approval step needs more approvals: approvals so far, and the number required. */
  approvals?: number;
  approvals_needed?: number;
}
export interface RejectView {
  job_id: string;
  status?: string;
  rejected_by?: string;
  rejected_at?: number;
}

const decide = { permission: 'jobs.approve', roles: ['admin', 'operator'] } as const;
const conflicts = [
  'approval_not_found',
  'approval_forbidden',
  'self_approval_denied',
  'approval_retryable_lock',
  'approval_terminal_run',
  'approval_not_actionable',
  'approval_already_resolved',
] as const;

export const approveJob = endpoint({
  id: 'approvals.approve',
  method: 'post',
  path: '/api/v1/approvals/:job_id/approve',
  summary: 'Approve a held job',
  access: decide,
  audit: { type: 'safety.approval', action: 'approval.approve', resource: ['job', 'job_id'], severity: 'HIGH' },
  params: { job_id: jobId },
  body: approvalBody,
  bodyOptional: true,
  answer: {
    status: 200,
    body: shape<ApproveView>({
      required: { job_id: jobId, trace_id: text('Trace id.') },
      optional: {
        status: Joi.string().valid('already_approved'),
        approved_by: text('Identity that approved it earlier.'),
        approved_at: micros('Time of that approval.'),
        approvals: count('Approvals so far, while an approval step needs more.'),
        approvals_needed: count('Number of approvals required.'),
      },
    }),
  },
  errors: [...conflicts, 'approval_stale_request', 'approval_stale_snapshot', 'safety_unavailable'],
  otherTenant: 'approval_forbidden',
});

export const rejectJob = endpoint({
  id: 'approvals.reject',
  method: 'post',
  path: '/api/v1/approvals/:job_id/reject',
  summary: 'Reject a held job',
  access: decide,
  audit: { type: 'safety.approval', action: 'approval.reject', resource: ['job', 'job_id'], severity: 'HIGH' },
  params: { job_id: jobId },
  body: approvalBody,
  bodyOptional: true,
  answer: {
    status: 200,
    body: shape<RejectView>({
      required: { job_id: jobId },
      optional: {
        status: Joi.string().valid('already_rejected'),
        rejected_by: text('Identity that rejected it earlier.'),
        rejected_at: micros('Time of that rejection.'),
      },
    }),
  },
  errors: [...conflicts],
  otherTenant: 'approval_forbidden',
});

export const approvalEndpoints = [listApprovals, approveJob, rejectJob, repairApproval, approvalContext] as const;
