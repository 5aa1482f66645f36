import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, count, jobId, micros, text } from '../fields';
import { shape } from '../shape';
import {
  approvalFields,
  blastRadius,
  policySnapshotSummary,
  type ApprovalView,
  type PolicySnapshotSummary,
} from './approval-view';

export interface PriorApproval {
  job_id: string;
  topic: string;
  tenant: string;
  decision: string;
  resolved_by: string;
  resolved_at: number;
  was_approved: boolean;
}

/** See docs/reference/jobs.md#approvals. */
export interface ApprovalContextView {
  approval: Omit<ApprovalView, 'job'> & { job_id: string; state: string };
  blast_radius: ApprovalView['blast_radius'];
  prior_approvals: PriorApproval[];
  rollback_hint: string;
  policy_snapshot_summary: PolicySnapshotSummary;
  time_remaining_ms: number | null;
  constraints: Record<string, unknown> | null;
}

export const approvalContext = endpoint({
  id: 'approvals.context',
  method: 'get',
  path: '/api/v1/approvals/:job_id/context',
  summary: 'Context for an approval decision',
  access: { permission: 'jobs.approve', roles: ['admin'] },
  params: { job_id: jobId },
  answer: {
    status: 200,
    body: shape<ApprovalContextView>({
      required: {
        approval: shape<ApprovalContextView['approval']>({
          required: { job_id: jobId, state: text('State of the job.'), ...approvalFields.required },
          optional: approvalFields.optional,
        }),
        blast_radius: blastRadius,
        prior_approvals: Joi.array()
          .items(
            shape<PriorApproval>({
              required: {
                job_id: jobId,
                topic: text('Topic.'),
                tenant: text('Tenant.'),
                decision: text('approve or reject.'),
                resolved_by: text('Identity that resolved it.'),
                resolved_at: micros('Time of the resolution.'),
                was_approved: Joi.boolean(),
              },
            }),
          )
          .max(10)
          .description('Resolutions on the same topic in the last 30 days, newest first.'),
        rollback_hint: text('How to undo the effect of the job.'),
        policy_snapshot_summary: policySnapshotSummary,
        time_remaining_ms: count('Milliseconds until the approval expires; null when it does not expire.').allow(null),
        constraints: anyObject('Constraints set by policy.').allow(null),
      },
    }),
  },
  errors: ['job_not_found', 'approval_not_found'],
  otherTenant: 'tenant_access_denied',
});
