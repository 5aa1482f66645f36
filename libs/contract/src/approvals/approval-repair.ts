import Joi from 'joi';
import { endpoint } from '../endpoint';
import { count, jobId, micros, text } from '../fields';
import { shape } from '../shape';

export interface ApprovalRepairBody {
  apply: boolean;
  note?: string;
}

/** The planned or applied repair. See docs/reference/jobs.md#repair. */
export interface ApprovalRepairPlan {
  job_id: string;
  kind:
    | 'replay_pending_publish'
    | 'repair_approved_resolution'
    | 'repair_rejected_resolution'
    | 'invalidate_terminal_run'
    | 'invalidate_stale_snapshot'
    | 'invalidate_stale_request'
    | 'none';
  repairable: boolean;
  reason: string;
  current_state: string;
  target_state: string;
  approval_status: string;
  actionability: string;
  decision: string;
  publish_target: '' | 'submit' | 'dlq' | 'dlq_and_result';
  topic: string;
  run_id: string;
  request_hash: string;
}

/** Fields that are not set are absent. */
export interface ApprovalResolutionView {
  approved_by?: string;
  approved_role?: string;
  approved_at?: number;
  reason?: string;
  note?: string;
  policy_snapshot?: string;
  job_hash?: string;
  status?: string;
  actionability?: string;
  revision?: number;
  decision?: string;
  publish_status?: 'pending' | 'published';
  publish_target?: 'submit' | 'dlq' | 'dlq_and_result';
  published_at?: number;
}

export interface ApprovalRepairView {
  job_id: string;
  apply: boolean;
  applied: boolean;
  repairable: boolean;
  state: string;
  trace_id: string;
  approval: ApprovalResolutionView;
  plan: ApprovalRepairPlan;
  publish_deferred?: boolean;
}

const publishTargets = ['submit', 'dlq', 'dlq_and_result'] as const;

const repairPlan = shape<ApprovalRepairPlan>({
  required: {
    job_id: jobId,
    kind: Joi.string<ApprovalRepairPlan['kind']>().valid(
      'replay_pending_publish', 'repair_approved_resolution', 'repair_rejected_resolution', 'invalidate_terminal_run',
      'invalidate_stale_snapshot', 'invalidate_stale_request', 'none',
    ), // prettier-ignore
    repairable: Joi.boolean().description('Whether there is anything to repair.'),
    reason: text('The detected problem.'),
    current_state: text('State of the job before the repair.'),
    target_state: text('State of the job after the repair.'),
    approval_status: text('Status of the approval after the repair.'),
    actionability: text('Actionability of the approval after the repair.'),
    decision: text('Decision on the approval after the repair.'),
    publish_target: Joi.string<ApprovalRepairPlan['publish_target']>()
      .valid('', ...publishTargets)
      .description('Event that the repair publishes; empty = none.'),
    topic: text('Topic of the job.'),
    run_id: text('Workflow run of an approval step.'),
    request_hash: text('SHA-256 of the request as it is stored now.'),
  },
});

const resolutionView = shape<ApprovalResolutionView>({
  required: {},
  optional: {
    approved_by: text('Identity that resolved it.'),
    approved_role: text('Role of that identity.'),
    approved_at: micros('Time of the resolution.'),
    reason: text('Reason of the resolution.'),
    note: text('Note.'),
    policy_snapshot: text('Policy snapshot under which the job was held.'),
    job_hash: text('SHA-256 of the request that was resolved.'),
    status: text('pending, approved, rejected, invalidated or repaired.'),
    actionability: text('actionable, resolved, invalidated, expired or repaired.'),
    revision: count('Incremented by each change.'),
    decision: text('approve, reject, invalidate, expire or repair.'),
    publish_status: Joi.string<'pending' | 'published'>().valid('pending', 'published'),
    publish_target: Joi.string<(typeof publishTargets)[number]>().valid(...publishTargets),
    published_at: micros('Time of publication, if known.'),
  },
});

export const repairApproval = endpoint({
  id: 'approvals.repair',
  method: 'post',
  path: '/api/v1/approvals/:job_id/repair',
  summary: 'Diagnose and repair an approval',
  access: { permission: 'jobs.approve', roles: ['admin'] },
  audit: { type: 'safety.approval', action: 'approval.repair', resource: ['job', 'job_id'], severity: 'HIGH' },
  params: { job_id: jobId },
  body: shape<ApprovalRepairBody>({
    required: { apply: Joi.boolean().default(false).description('false returns the plan without applying it.') },
    optional: { note: text('Note; secrets are redacted, at most 512 bytes are kept.').max(10_000) },
  }),
  bodyOptional: true,
  answer: {
    status: 200,
    body: shape<ApprovalRepairView>({
      required: {
        job_id: jobId,
        apply: Joi.boolean().description('Value of the request.'),
        applied: Joi.boolean().description('Whether anything was changed.'),
        repairable: Joi.boolean().description('Whether there was anything to repair.'),
        state: text('State of the job now.'),
        trace_id: text('Trace id.'),
        approval: resolutionView,
        plan: repairPlan,
      },
      optional: { publish_deferred: Joi.boolean().description('NATS was unreachable; the event is published later.') },
    }),
  },
  errors: [
    'approval_not_found', 'approval_forbidden', 'self_approval_denied', 'approval_retryable_lock',
    'approval_not_actionable', 'not_repairable', 'safety_unavailable',
  ], // prettier-ignore
  otherTenant: 'approval_forbidden',
});
