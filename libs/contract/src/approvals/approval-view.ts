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

export const blastRadius = Joi.object({
  systems: strings('Systems.'),
  namespaces: strings('Namespaces.'),
  resources: strings('Resources.'),
  scope_description: text('In words.'),
});

export const policySnapshotSummary = shape<PolicySnapshotSummary>({
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

/** Of an approval, in lists and alone. */
export const approvalFields = {
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

export const approvalView = shape<ApprovalView>({
  required: { job: jobItem, ...approvalFields.required },
  optional: approvalFields.optional,
});
