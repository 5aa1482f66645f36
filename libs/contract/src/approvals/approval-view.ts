import Joi from 'joi';
import { anyObject, count, micros, strings, text } from '../fields';
import { jobItem, type JobItem } from '../jobs/job-views';
import { shape } from '../shape';

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

/** See docs/reference/jobs.md#approvals. */
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
  /** Approval steps with several approvers: approvals so far, and the number required. */
  approvals?: number;
  approvals_needed?: number;
  /** Role to which an approval step was escalated. */
  escalated_to?: string;
  context_ptr?: string;
  job_input?: unknown;
}

/** The policy that required the approval. Its description is present while the service has that policy. */
export interface PolicySnapshotSummary {
  /** null = unknown. */
  rule_count: number | null;
  matched_rule: { id: string; description: string; decision: string; constraints_summary: string } | null;
  policy_version: string;
}

const decisionSummary = shape<DecisionSummary>({
  required: {
    source: Joi.string().valid('workflow_payload', 'policy_only'),
    completeness: Joi.string().valid('rich', 'partial', 'minimal'),
    context_status: Joi.string().valid('available', 'missing', 'unavailable', 'malformed', 'absent'),
    title: text('Title of the request.'),
  },
  optional: {
    subject: text('Subject of the request.'),
    why: text('Why approval is required.'),
    next_effect: text('Effect of an approval.'),
    amount: Joi.alternatives(Joi.number(), Joi.string()),
    currency: text('Currency.'),
    vendor: text('Vendor.'),
    item_count: count('Number of items.'),
    items_preview: Joi.array().items(Joi.any()).max(3),
    escalation_reason: text('Reason for the escalation.'),
    missing_fields: strings('Fields that the request omits.'),
  },
});

export const blastRadius = Joi.object({
  systems: strings('Systems.'),
  namespaces: strings('Namespaces.'),
  resources: strings('Resources.'),
  scope_description: text('Description of the scope.'),
});

export const policySnapshotSummary = shape<PolicySnapshotSummary>({
  required: {
    rule_count: count('Number of rules of the policy; null = unknown.').allow(null),
    matched_rule: Joi.object({
      id: text('Rule id.'),
      description: text('Description of the rule.'),
      decision: text('Decision of the rule.'),
      constraints_summary: text('Summary of the constraints it sets.'),
    }).allow(null),
    policy_version: text('Policy version, without the hash of the effective config.'),
  },
});

/** Fields of an approval, in lists and alone. */
export const approvalFields = {
  required: {
    decision: text('Policy decision, such as REQUIRE_APPROVAL.'),
    policy_snapshot: text('Policy snapshot of the decision.'),
    policy_rule_id: text('Rule of the decision.'),
    policy_reason: text('Reason of the decision.'),
    constraints: anyObject('Constraints set by policy.').allow(null),
    job_hash: text('SHA-256 of the request to approve.'),
    approval_required: Joi.boolean(),
    approval_ref: text('The job id.'),
    approval_status: Joi.string().valid('pending', 'approved', 'rejected', 'invalidated', 'repaired'),
    approval_actionability: Joi.string().valid('actionable', 'resolved', 'invalidated', 'expired', 'repaired'),
    approval_revision: count('Incremented by each change.'),
    decision_summary: decisionSummary,
    blast_radius: blastRadius,
    rollback_hint: text('How to undo the effect of the job.'),
    policy_snapshot_summary: policySnapshotSummary,
  },
  optional: {
    approval_decision: text('approve, reject, invalidate, expire or repair.'),
    submitted_by: text('Opaque identity of the submitter.'),
    resolved_by: text('Identity that resolved it.'),
    resolved_comment: text('Note of that identity.'),
    resolution: text('Reason that identity gave.'),
    resolved_at: micros('Time of the resolution.'),
    workflow_id: text('Workflow.'),
    workflow_run_id: text('Run.'),
    workflow_step_id: text('Step.'),
    step_name: text('Name of the step.'),
    workflow_name: text('Name of the workflow.'),
    gate_type: text('Kind of approval step.'),
    approvals: count('Approvals so far.'),
    approvals_needed: count('Number of approvals by different people required.'),
    escalated_to: text('Role to which it was escalated.'),
    context_ptr: text('Pointer to the input document.'),
    job_input: Joi.any().description('The input document.'),
  },
};

export const approvalView = shape<ApprovalView>({
  required: { job: jobItem, ...approvalFields.required },
  optional: approvalFields.optional,
});
