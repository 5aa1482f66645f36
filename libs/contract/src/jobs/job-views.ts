import Joi from 'joi';
import { anyObject, count, jobId, micros, stringMap, strings, text, usd } from '../fields';
import { shape } from '../shape';
import { limitFields, type LimitFields } from './job-limits';

/** A job in lists and traces. Fields that are not set are omitted. */
export interface JobItem {
  id: string;
  state: string;
  updated_at: number;
  created_at?: number;
  worker_id?: string;
  trace_id?: string;
  topic?: string;
  tenant?: string;
  team?: string;
  principal?: string;
  actor_id?: string;
  actor_type?: string;
  idempotency_key?: string;
  capability?: string;
  risk_tags?: string[];
  requires?: string[];
  pack_id?: string;
  attempts?: number;
  agent_id?: string;
  safety_decision?: string;
  safety_reason?: string;
  safety_rule_id?: string;
  safety_snapshot?: string;
  deadline_unix?: number;
  failure_reason?: string;
}

export const jobItem = shape<JobItem>({
  required: { id: jobId, state: text('State of the job.'), updated_at: micros('Time of the last state change.') },
  optional: {
    created_at: micros('Time of acceptance.'),
    worker_id: text('Worker that holds or held it.'),
    trace_id: text('Trace id.'),
    topic: text('Topic.'),
    tenant: text('Tenant.'),
    team: text('Team.'),
    principal: text('Principal it was submitted for.'),
    actor_id: text('Actor.'),
    actor_type: text('human or service.'),
    idempotency_key: text('Idempotency key.'),
    capability: text('Capability.'),
    risk_tags: strings('Risk tags.'),
    requires: strings('Capabilities it needs.'),
    pack_id: text('Pack.'),
    attempts: count('Number of dispatches.'),
    agent_id: text('Agent.'),
    safety_decision: text('Latest policy decision.'),
    safety_reason: text('Reason of the decision.'),
    safety_rule_id: text('Rule of the decision.'),
    safety_snapshot: text('Policy snapshot of the decision.'),
    deadline_unix: micros('Deadline.'),
    failure_reason: text('Reason of the failure.'),
  },
});

/** See docs/reference/jobs.md#read-jobs. */
export interface OutputSafetyView {
  decision: string;
  reason: string;
  rule_id: string;
  policy_snapshot: string;
  findings: Record<string, unknown>[];
  phase: string;
  checked_at: number;
  check_duration_ms: number;
  redacted_ptr?: string;
  original_ptr?: string;
  scanned_bytes?: number;
  truncated?: boolean;
  skipped?: boolean;
  released_at?: number;
  released_by?: string;
  release_reason?: string;
  confirmed_at?: number;
  confirmed_by?: string;
}

export const outputSafetyView = shape<OutputSafetyView>({
  required: {
    decision: Joi.string().valid('ALLOW', 'QUARANTINE', 'REDACT'),
    reason: text('Reason of the decision.'),
    rule_id: text('Output rule; empty when none matched.'),
    policy_snapshot: text('Policy snapshot of the decision.'),
    findings: Joi.array().items(
      anyObject('type, severity, detail, scanner, confidence, matched_pattern, offset, length'),
    ),
    phase: Joi.string().valid('sync', 'async'),
    checked_at: micros('Time of the check.'),
    check_duration_ms: Joi.number().min(0),
  },
  optional: {
    redacted_ptr: text('Pointer to the redacted copy.'),
    original_ptr: text('Pointer to the original output.'),
    scanned_bytes: count('Number of scanned bytes.'),
    truncated: Joi.boolean(),
    skipped: Joi.boolean().description('The check failed, and the result was released without it.'),
    released_at: micros('Time at which a quarantined result was released.'),
    released_by: text('Identity that released it.'),
    release_reason: text('Reason given for the release.'),
    confirmed_at: micros('Time at which the quarantine was confirmed.'),
    confirmed_by: text('Identity that confirmed it.'),
  },
});

/** The budget that a job would exceed, in US dollars. See ADR 0011. */
export interface OverBudgetView {
  limit: string;
  of: string;
  limit_usd: number;
  spent_usd: number;
  reserved_usd: number;
  ends_at?: string;
}
const overBudgetView = shape<OverBudgetView>({
  required: {
    limit: text('Setting of the section budget.'),
    of: text('Owner of the limit: tenant, team, workflow, run or job.'),
    limit_usd: usd('The limit.'),
    spent_usd: usd('Amount spent.'),
    reserved_usd: usd('Reserved by work under way.'),
  },
  optional: { ends_at: text('End of the day or month.') },
});

/** Required fields are always present, empty when unset. */
export interface JobDetail extends LimitFields {
  id: string;
  state: string;
  trace_id: string;
  topic: string;
  tenant: string;
  actor_id: string;
  actor_type: string;
  idempotency_key: string;
  capability: string;
  pack_id: string;
  risk_tags: string[] | null;
  requires: string[] | null;
  attempts: number;
  labels: Record<string, string>;
  workflow_id: string;
  run_id: string;
  step_id: string;
  context_ptr: string;
  context: unknown;
  result_ptr: string;
  result: unknown;
  safety_decision: string;
  safety_reason: string;
  safety_rule_id: string;
  safety_snapshot: string;
  safety_constraints: Record<string, unknown> | null;
  safety_remediations: Record<string, unknown>[] | null;
  safety_job_hash: string;
  approval_required: boolean;
  approval_ref: string;
  agent_id: string;
  agent_name: string;
  agent_risk_tier: string;
  delegation?: Record<string, unknown>;
  created_at?: number;
  updated_at?: number;
  started_at?: number;
  completed_at?: number;
  priority?: string;
  adapter_id?: string;
  memory_id?: string;
  worker_id?: string;
  pool?: string;
  parent_job_id?: string;
  deadline_unix?: number;
  /** Why an accepted job is not dispatched yet. */
  waiting_reason?: string;
  progress_percent?: number;
  progress_message?: string;
  execution_ms?: number;
  estimated_cost?: number;
  cost?: number;
  over_budget?: OverBudgetView;
  artifact_ptrs?: string[];
  output_decision?: string;
  output_safety?: OutputSafetyView;
  error_message?: string;
  error_status?: string;
  outcome?: 'unknown' | 'settled';
  error_code?: string;
  last_state?: string;
  approval_by?: string;
  approval_role?: string;
  approval_at?: number;
  approval_reason?: string;
  approval_note?: string;
  approval_policy_snapshot?: string;
  approval_job_hash?: string;
  approval_status?: string;
  approval_actionability?: string;
  approval_revision?: number;
  approval_decision?: string;
}

export const jobDetail = shape<JobDetail>({
  required: {
    id: jobId,
    state: text('State of the job.'),
    trace_id: text('Trace id.'),
    topic: text('Topic.'),
    tenant: text('Tenant.'),
    actor_id: text('Actor.'),
    actor_type: text('human or service.'),
    idempotency_key: text('Idempotency key.'),
    capability: text('Capability.'),
    pack_id: text('Pack.'),
    risk_tags: strings('Risk tags.').allow(null),
    requires: strings('Capabilities it needs.').allow(null),
    attempts: count('Number of dispatches.'),
    labels: stringMap('Labels of the submitter.'),
    workflow_id: text('Workflow.'),
    run_id: text('Run.'),
    step_id: text('Step.'),
    context_ptr: text('Pointer to the input document.'),
    context: Joi.any().description('The input document, decoded; null when it has expired.'),
    result_ptr: text('Pointer to the result; empty when there is none or it is withheld.'),
    result: Joi.any().description('The result, decoded; null when there is none, it is withheld or it is not JSON.'),
    safety_decision: text('Latest policy decision.'),
    safety_reason: text('Reason of the decision.'),
    safety_rule_id: text('Rule of the decision.'),
    safety_snapshot: text('Policy snapshot of the decision.'),
    safety_constraints: anyObject('Constraints set by policy.').allow(null),
    safety_remediations: Joi.array().items(anyObject('An alternative request.')).allow(null),
    safety_job_hash: text('SHA-256 of the request that policy evaluated.'),
    approval_required: Joi.boolean(),
    approval_ref: text('The job id if approval is required.'),
    agent_id: text('Agent.'),
    agent_name: text('Name of the agent.'),
    agent_risk_tier: text('Risk tier of the agent.'),
  },
  optional: {
    delegation: anyObject('Delegation by which the agent acts, without the token. See docs/reference/agents.md.'),
    created_at: micros('Time of acceptance.'),
    updated_at: micros('Time of the last state change.'),
    started_at: micros('Time of the first dispatch.'),
    completed_at: micros('Time of the end.'),
    priority: text('critical, interactive or batch.'),
    adapter_id: text('Adapter hint.'),
    memory_id: text('Memory id.'),
    worker_id: text('Worker that holds or held it.'),
    pool: text('Pool of the worker.'),
    parent_job_id: text('Parent job.'),
    deadline_unix: micros('Deadline.'),
    waiting_reason: text(
      'Why a waiting job is not dispatched. `missing_capability: <name>` names a capability that the live workers of its pools lack.',
    ),
    progress_percent: count('Last reported progress.'),
    progress_message: text('Message of the last progress report.'),
    execution_ms: count('Execution time as measured by the worker.'),
    estimated_cost: usd('Cost estimated by the submitter.'),
    cost: usd('Cost reported by workers; after the end, the amount charged to budgets.'),
    over_budget: overBudgetView.description('Budget that the job would exceed.'),
    ...limitFields,
    artifact_ptrs: strings('Artifacts of the job.'),
    output_decision: text('Decision of the output check.'),
    output_safety: outputSafetyView,
    error_message: text('Error message of a failed job.'),
    error_status: text('Bus status at the end.'),
    outcome: Joi.string<'unknown' | 'settled'>()
      .valid('unknown', 'settled')
      .description('Whether an operator must settle the outcome of one of its effects, or has settled it.'),
    error_code: text('Reason code.'),
    last_state: text('Last state before the end.'),
    approval_by: text('Identity that resolved the approval.'),
    approval_role: text('Role of that identity.'),
    approval_at: micros('Time of the resolution.'),
    approval_reason: text('Reason of the resolution.'),
    approval_note: text('Note of the resolution.'),
    approval_policy_snapshot: text('Policy snapshot under which the job was held.'),
    approval_job_hash: text('SHA-256 of the request that was resolved.'),
    approval_status: text('pending, approved, rejected, invalidated or repaired.'),
    approval_actionability: text('actionable, resolved, invalidated, expired or repaired.'),
    approval_revision: count('Incremented by each change.'),
    approval_decision: text('approve, reject, invalidate, expire or repair.'),
  },
});

/** See docs/reference/policy.md#decisions. */
export interface DecisionView {
  decision: string;
  reason?: string;
  rule_id?: string;
  policy_snapshot?: string;
  constraints?: Record<string, unknown>;
  approval_required?: boolean;
  approval_ref?: string;
  job_hash?: string;
  remediations?: Record<string, unknown>[];
  checked_at: number;
  source: string;
}

export const decisionView = shape<DecisionView>({
  required: {
    decision: Joi.string().valid(
      'ALLOW',
      'DENY',
      'REQUIRE_APPROVAL',
      'THROTTLE',
      'ALLOW_WITH_CONSTRAINTS',
      'UNAVAILABLE',
    ),
    checked_at: micros('Time of the check.'),
    source: Joi.string().valid('gateway', 'scheduler', 'approval'),
  },
  optional: {
    reason: text('Reason of the decision.'),
    rule_id: text('Rule of the decision.'),
    policy_snapshot: text('Policy snapshot of the decision.'),
    constraints: anyObject('Constraints set by policy.'),
    approval_required: Joi.boolean(),
    approval_ref: text('The job id if approval is required.'),
    job_hash: text('SHA-256 of the request.'),
    remediations: Joi.array().items(anyObject('An alternative request.')),
  },
});
