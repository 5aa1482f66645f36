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
  policy_snapshot_summary: PolicySnapshotSummary;
  approval_decision?: string;
  submitted_by?: string;
  resolved_by?: string;
  resolved_comment?: string;
  resolution?: string;
  resolved_at?: number;
  workflow_id?: string;
  workflow_run_id?: string;
  workflow_step_id?: string;
  step_name?: string;
  workflow_name?: string;
  gate_type?: string;
  /** Gates that ask several people: approvals so far, and how many it takes. */
  approvals?: number;
  approvals_needed?: number;
  /** The role that a gate was escalated to. */
  escalated_to?: string;
  context_ptr?: string;
  job_input?: unknown;
}

/** The policy that asked for a person. What it says of itself is as long as the service knows it. */
export interface PolicySnapshotSummary {
  /** null = not known here. */
  rule_count: number | null;
  matched_rule: { id: string; description: string; decision: string; constraints_summary: string } | null;
  policy_version: string;
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

const blastRadius = Joi.object({
  systems: strings('Systems.'),
  namespaces: strings('Namespaces.'),
  resources: strings('Resources.'),
  scope_description: text('In words.'),
});

const policySnapshotSummary = shape<PolicySnapshotSummary>({
  required: {
    rule_count: count('Rules of that policy; null when not known.').allow(null),
    matched_rule: Joi.object({
      id: text('Rule.'),
      description: text('What it says.'),
      decision: text('What it decided.'),
      constraints_summary: text('Constraints it sets, in words.'),
    }).allow(null),
    policy_version: text('The policy, without what else took part in the decision.'),
  },
});

const approvalFields = {
  required: {
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
    blast_radius: blastRadius,
    rollback_hint: text('How to undo it.'),
    policy_snapshot_summary: policySnapshotSummary,
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
    step_name: text('Name of the step.'),
    workflow_name: text('Name of the workflow.'),
    gate_type: text('Kind of gate.'),
    approvals: count('Approvals so far.'),
    approvals_needed: count('Approvals of different people that it takes.'),
    escalated_to: text('Role that it was escalated to.'),
    context_ptr: text('Pointer to the input document.'),
    job_input: Joi.any().description('The input document.'),
  },
};

const approvalView = shape<ApprovalView>({
  required: { job: jobItem, ...approvalFields.required },
  optional: approvalFields.optional,
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
  /** The gate waits for more: approvals so far, and how many it takes. */
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
        approvals: count('Approvals so far, for a gate that waits for more.'),
        approvals_needed: count('How many it takes.'),
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

export interface ApprovalRepairBody {
  apply: boolean;
  note?: string;
}

/** What would be done, or was. Core contract 13.3. */
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

/** Only what is set. */
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
    reason: text('What is wrong.'),
    current_state: text('State of the job as it was found.'),
    target_state: text('State of the job after the repair.'),
    approval_status: text('Status of the approval after the repair.'),
    actionability: text('Its actionability then.'),
    decision: text('Its decision then.'),
    publish_target: Joi.string<ApprovalRepairPlan['publish_target']>()
      .valid('', ...publishTargets)
      .description('What the bus hears of it.'),
    topic: text('Topic of the job.'),
    run_id: text('Run of a gate.'),
    request_hash: text('SHA-256 of the request as it is stored now.'),
  },
});

const resolutionView = shape<ApprovalResolutionView>({
  required: {},
  optional: {
    approved_by: text('Who decided.'),
    approved_role: text('Their role.'),
    approved_at: micros('When.'),
    reason: text('Why.'),
    note: text('Note.'),
    policy_snapshot: text('The policy it was held under.'),
    job_hash: text('The request that was decided on.'),
    status: text('pending, approved, rejected, invalidated or repaired.'),
    actionability: text('actionable, resolved, invalidated, expired or repaired.'),
    revision: count('Rises with each change.'),
    decision: text('approve, reject, invalidate, expire or repair.'),
    publish_status: Joi.string<'pending' | 'published'>().valid('pending', 'published'),
    publish_target: Joi.string<(typeof publishTargets)[number]>().valid(...publishTargets),
    published_at: micros('When, where that is known.'),
  },
});

export const repairApproval = endpoint({
  id: 'approvals.repair',
  method: 'post',
  path: '/api/v1/approvals/:job_id/repair',
  summary: 'Say what is wrong with an approval, and mend it',
  access: { permission: 'jobs.approve', roles: ['admin'] },
  params: { job_id: jobId },
  body: shape<ApprovalRepairBody>({
    required: { apply: Joi.boolean().default(false).description('Without it nothing is changed.') },
    optional: { note: text('Note; secrets are redacted, at most 512 bytes are kept.').max(10_000) },
  }),
  bodyOptional: true,
  answer: {
    status: 200,
    body: shape<ApprovalRepairView>({
      required: {
        job_id: jobId,
        apply: Joi.boolean().description('As asked.'),
        applied: Joi.boolean().description('Whether anything was changed.'),
        repairable: Joi.boolean().description('Whether there was anything to repair.'),
        state: text('State of the job now.'),
        trace_id: text('Trace id.'),
        approval: resolutionView,
        plan: repairPlan,
      },
      optional: { publish_deferred: Joi.boolean().description('The bus is away and hears of it later.') },
    }),
  },
  errors: [
    'approval_not_found', 'approval_forbidden', 'self_approval_denied', 'approval_retryable_lock',
    'approval_not_actionable', 'not_repairable', 'safety_unavailable',
  ], // prettier-ignore
  otherTenant: 'approval_forbidden',
});

export interface PriorApproval {
  job_id: string;
  topic: string;
  tenant: string;
  decision: string;
  resolved_by: string;
  resolved_at: number;
  was_approved: boolean;
}

/** Core contract 13.4. */
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
  summary: 'What a person needs to know to decide',
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
                resolved_by: text('Who decided.'),
                resolved_at: micros('When.'),
                was_approved: Joi.boolean(),
              },
            }),
          )
          .max(10)
          .description('What people decided of the same topic in the last 30 days, newest first.'),
        rollback_hint: text('How to undo it.'),
        policy_snapshot_summary: policySnapshotSummary,
        time_remaining_ms: count('Until the wait for a person ends; null when nothing ends it.').allow(null),
        constraints: anyObject('Constraints set by policy.').allow(null),
      },
    }),
  },
  errors: ['job_not_found', 'approval_not_found'],
  otherTenant: 'tenant_access_denied',
});

export const approvalEndpoints = [listApprovals, approveJob, rejectJob, repairApproval, approvalContext] as const;
