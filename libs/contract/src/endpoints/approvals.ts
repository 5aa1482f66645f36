import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, count, cursor, flag, jobId, micros, pageLimit, strings, text } from '../fields';
import { jobItem, type JobItem } from '../job-views';
import { shape } from '../shape';
import { listView } from './jobs';

export interface DecisionSummary {
  source: string;
  completeness: string;
  context_status: string;
  title: string;
  subject?: string;
  why?: string;
  next_effect?: string;
  amount?: number | string;
  currency?: string;
  vendor?: string;
  item_count?: number;
  items_preview?: unknown[];
  escalation_reason?: string;
  missing_fields?: string[];
}

/** Core contract 13.1. */
export interface ApprovalView {
  job: JobItem;
  decision: string;
  policy_snapshot: string;
  policy_rule_id: string;
  policy_reason: string;
  constraints: Record<string, unknown> | null;
  job_hash: string;
  approval_required: boolean;
  approval_ref: string;
  approval_status: string;
  approval_actionability: string;
  approval_revision: number;
  decision_summary: DecisionSummary;
  blast_radius: { systems: string[]; namespaces: string[]; resources: string[]; scope_description: string };
  rollback_hint: string;
  approval_decision?: string;
  submitted_by?: string;
  resolved_by?: string;
  resolved_comment?: string;
  resolution?: string;
  resolved_at?: number;
  workflow_id?: string;
  workflow_run_id?: string;
  workflow_step_id?: string;
  gate_type?: string;
  context_ptr?: string;
  job_input?: unknown;
}

const decisionSummary = shape<DecisionSummary>({
  required: {
    source: Joi.string().valid('workflow_payload', 'policy_only'),
    completeness: Joi.string().valid('rich', 'partial', 'minimal'),
    context_status: Joi.string().valid('available', 'missing', 'unavailable', 'malformed', 'absent'),
    title: text('What is to be decided.'),
  },
  optional: {
    subject: text('About what.'),
    why: text('Why a person is asked.'),
    next_effect: text('What approval sets going.'),
    amount: Joi.alternatives(Joi.number(), Joi.string()),
    currency: text('Currency.'),
    vendor: text('Vendor.'),
    item_count: count('Number of items.'),
    items_preview: Joi.array().items(Joi.any()).max(3),
    escalation_reason: text('Why it came up.'),
    missing_fields: strings('What the request did not say.'),
  },
});

const approvalView = shape<ApprovalView>({
  required: {
    job: jobItem,
    decision: text('Policy decision, such as REQUIRE_APPROVAL.'),
    policy_snapshot: text('The policy it was made on.'),
    policy_rule_id: text('Its rule.'),
    policy_reason: text('Its reason.'),
    constraints: anyObject('Constraints set by policy.').allow(null),
    job_hash: text('SHA-256 of the request that is to be approved.'),
    approval_required: Joi.boolean(),
    approval_ref: text('The job id.'),
    approval_status: Joi.string().valid('pending', 'approved', 'rejected', 'invalidated', 'repaired'),
    approval_actionability: Joi.string().valid('actionable', 'resolved', 'invalidated', 'expired', 'repaired'),
    approval_revision: count('Rises with each change.'),
    decision_summary: decisionSummary,
    blast_radius: Joi.object({
      systems: strings('Systems.'),
      namespaces: strings('Namespaces.'),
      resources: strings('Resources.'),
      scope_description: text('In words.'),
    }),
    rollback_hint: text('How to undo it.'),
  },
  optional: {
    approval_decision: text('approve, reject, invalidate, expire or repair.'),
    submitted_by: text('Opaque identity of the submitter.'),
    resolved_by: text('Who decided.'),
    resolved_comment: text('Their note.'),
    resolution: text('Their reason.'),
    resolved_at: micros('When.'),
    workflow_id: text('Workflow.'),
    workflow_run_id: text('Run.'),
    workflow_step_id: text('Step.'),
    gate_type: text('Kind of gate.'),
    context_ptr: text('Pointer to the input document.'),
    job_input: Joi.any().description('The input document.'),
  },
});

export const listApprovals = endpoint({
  id: 'approvals.list',
  method: 'get',
  path: '/api/v1/approvals',
  summary: 'Approvals, newest first',
  access: { permission: 'jobs.approve', roles: ['admin'] },
  params: {},
  query: shape<{ limit: number; include_resolved: boolean; cursor?: number }>({
    required: { limit: pageLimit(100), include_resolved: flag(true).description('false shows pending ones only.') },
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
    reason: text('Why; secrets are redacted, at most 512 bytes are kept.').max(10_000).default(''),
    note: text('Note; likewise.').max(10_000).default(''),
  },
});

export interface ApproveView {
  job_id: string;
  trace_id: string;
  status?: string;
  approved_by?: string;
  approved_at?: number;
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
  'approval_not_actionable',
  'approval_already_resolved',
] as const;

export const approveJob = endpoint({
  id: 'approvals.approve',
  method: 'post',
  path: '/api/v1/approvals/:job_id/approve',
  summary: 'Approve a held job',
  access: decide,
  params: { job_id: jobId },
  body: approvalBody,
  bodyOptional: true,
  answer: {
    status: 200,
    body: shape<ApproveView>({
      required: { job_id: jobId, trace_id: text('Trace id.') },
      optional: {
        status: Joi.string().valid('already_approved'),
        approved_by: text('Who approved it before.'),
        approved_at: micros('When.'),
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
  params: { job_id: jobId },
  body: approvalBody,
  bodyOptional: true,
  answer: {
    status: 200,
    body: shape<RejectView>({
      required: { job_id: jobId },
      optional: {
        status: Joi.string().valid('already_rejected'),
        rejected_by: text('Who rejected it before.'),
        rejected_at: micros('When.'),
      },
    }),
  },
  errors: [...conflicts],
  otherTenant: 'approval_forbidden',
});

export const approvalEndpoints = [listApprovals, approveJob, rejectJob] as const;
