import { toUsd } from '@svc/policy';
import type { ApprovalRecord, JobRecord, JobSummary, OverBudget } from '@svc/store';
import type { JobDetail, JobItem } from '@svc/contract';
import { toLimitFields } from './job-limits';
import { publicLabels } from './normalize-request';
import { isWithheld } from './withheld';

/** The fields that are set. */
function omitEmpty<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const set: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
    if (value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)) set[name] = value;
  }
  return set as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** A job in lists and traces: only the fields that are set. See docs/reference/jobs.md#read-jobs. */
export function toJobItem(job: JobSummary): JobItem {
  const { request, safety } = job;
  const optional = omitEmpty({
    worker_id: job.worker_id,
    trace_id: job.trace_id,
    topic: job.topic,
    tenant: job.tenant,
    team: request.team_id,
    principal: request.principal_id,
    actor_id: request.actor_id,
    actor_type: request.actor_type,
    idempotency_key: request.idempotency_key,
    capability: request.capability,
    risk_tags: request.risk_tags,
    requires: request.requires,
    pack_id: request.pack_id,
    agent_id: request.agent_id,
    safety_decision: safety?.decision,
    safety_reason: safety?.reason,
    safety_rule_id: safety?.rule_id,
    safety_snapshot: safety?.policy_snapshot,
    failure_reason: job.error_message,
  });
  return {
    id: job.id,
    state: job.state,
    updated_at: job.updated_at,
    created_at: job.created_at,
    attempts: job.attempts,
    ...(job.deadline_ms > 0 && { deadline_unix: job.deadline_ms * 1_000 }),
    ...(optional as Partial<JobItem>),
  };
}

/** Parsed JSON, or null when it is not JSON. */
export function parseJsonOrNull(body: Buffer | null): unknown {
  if (!body) return null;
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return null;
  }
}

/** A stored document, decoded or not; null if there is none. */
type StoredBody = Buffer | string | null;

/**
 * The JSON text of everything about a job. Its input and result are checked, but passed on as they are stored. A quarantined
 * result is withheld, and so are the artifacts; only its pointer shows, in output_safety.
 */
export function jobDetailText(job: JobRecord, context: StoredBody, result: StoredBody, agent?: ShownAgent): string {
  const withheld = isWithheld(job);
  const stored = withheld ? 'null' : documentText(result);
  const pointer = JSON.stringify(withheld ? '' : (job.result_ptr ?? ''));
  const shown = stored === 'null' && !withheld ? JSON.stringify(refusalResult(job)) : stored;
  const asked = toMembersText(askedDetail(job));
  return `{${asked},"context":${documentText(context)},"result_ptr":${pointer},"result":${shown},${toMembersText(decidedDetail(job, agent))}}`;
}

/** The agent of a job as it is now. */
export interface ShownAgent {
  name: string;
  risk_tier: string;
}

/** The JSON text of an object without its braces. */
const toMembersText = (fields: object): string => JSON.stringify(fields).slice(1, -1);

/** A number beyond the range of a double, or text that looks like one. */
const mayOverflow = /[eE]\+?\d{3,}(?=[\s,\]}]|$)|(?<!\d)\d{200}/;

/** A stored document as JSON text; `null` when it is not JSON. */
function documentText(body: StoredBody): string {
  if (body === null) return 'null';
  const text = body.toString('utf8');
  try {
    const value = JSON.parse(text) as unknown;
    // Many JSON readers reject such a number; it is written as null.
    return value === null || mayOverflow.test(text) ? JSON.stringify(value) : text;
  } catch {
    return 'null';
  }
}

/** Fields up to the input. */
function askedDetail(job: JobRecord) {
  const { request } = job;
  return {
    id: job.id,
    state: job.state,
    trace_id: job.trace_id,
    topic: job.topic,
    tenant: job.tenant,
    actor_id: request.actor_id,
    actor_type: request.actor_type ?? '',
    idempotency_key: request.idempotency_key ?? '',
    capability: request.capability ?? '',
    pack_id: request.pack_id ?? '',
    risk_tags: request.risk_tags.length > 0 ? request.risk_tags : null,
    requires: request.requires.length > 0 ? request.requires : null,
    attempts: job.attempts,
    labels: publicLabels(request.labels),
    // Shown as the submitter sent them; they have an effect only on jobs of an engine run.
    workflow_id: request.workflow_id ?? request.labels['workflow_id'] ?? '',
    run_id: request.run_id ?? request.labels['run_id'] ?? '',
    step_id: request.step_id ?? request.labels['step_id'] ?? '',
    context_ptr: `redis://ctx:${job.id}`,
  };
}

/** Fields after the result. */
function decidedDetail(
  job: JobRecord,
  agent: ShownAgent | undefined,
): Omit<JobDetail, keyof ReturnType<typeof askedDetail> | 'context' | 'result_ptr' | 'result'> {
  const { request, safety } = job;
  return {
    safety_decision: safety?.decision ?? '',
    safety_reason: safety?.reason ?? '',
    safety_rule_id: safety?.rule_id ?? '',
    safety_snapshot: safety?.policy_snapshot ?? '',
    safety_constraints: safety?.constraints ?? null,
    safety_remediations: safety?.remediations?.map((entry) => ({ ...entry })) ?? null,
    safety_job_hash: safety?.job_hash ?? '',
    approval_required: safety?.approval_required ?? false,
    approval_ref: safety?.approval_ref ?? '',
    agent_id: request.agent_id ?? '',
    agent_name: agent?.name ?? '',
    agent_risk_tier: agent?.risk_tier ?? '',
    ...(job.delegation && { delegation: { ...job.delegation } }),
    ...optionalDetail(job),
  };
}

function optionalDetail(job: JobRecord): Partial<JobDetail> {
  const { request } = job;
  const waits =
    job.parked === 'jobWaiting' || job.state === 'RETRYING' || job.state === 'PENDING' || job.state === 'SCHEDULED';
  return omitEmpty({
    created_at: job.created_at,
    updated_at: job.updated_at,
    started_at: job.started_at,
    completed_at: job.completed_at,
    priority: request.priority,
    adapter_id: request.adapter_id,
    memory_id: request.memory_id,
    worker_id: job.worker_id,
    pool: job.pool,
    parent_job_id: request.parent_job_id,
    deadline_unix: job.deadline_ms > 0 ? job.deadline_ms * 1_000 : undefined,
    waiting_reason: waits ? job.waiting_reason : undefined,
    progress_percent: job.progress_percent,
    progress_message: job.progress_message,
    execution_ms: job.execution_ms,
    estimated_cost: request.estimated_cost,
    cost: job.cost === undefined ? undefined : toUsd(job.cost),
    over_budget: job.over_budget && toOverBudget(job.over_budget),
    ...(request.limits && toLimitFields(request.limits)),
    artifact_ptrs: isWithheld(job) ? undefined : job.artifact_ptrs,
    output_decision: job.output_safety?.decision,
    output_safety: job.output_safety,
    error_message: job.error_message,
    error_status: job.error_status,
    outcome: job.outcome,
    error_code: job.error_code,
    last_state: job.error_code === undefined ? undefined : job.last_state,
    ...(job.approval && approvalFields(getApproval(job) ?? job.approval)),
  }) as Partial<JobDetail>;
}

const toOverBudget = ({ limit, of, amount, spent, reserved, ends_ms }: OverBudget) => ({
  limit,
  of,
  limit_usd: toUsd(amount),
  spent_usd: toUsd(spent),
  reserved_usd: toUsd(reserved),
  ...(ends_ms !== undefined && { ends_at: new Date(ends_ms).toISOString() }),
});

const approvalFields = (approval: ApprovalRecord) => ({
  approval_by: approval.resolved_by,
  approval_role: approval.resolved_role,
  approval_at: approval.resolved_at,
  approval_reason: approval.reason,
  approval_note: approval.note,
  approval_policy_snapshot: approval.policy_snapshot,
  approval_job_hash: approval.job_hash,
  approval_status: approval.status,
  approval_actionability: actionability(approval),
  approval_revision: approval.revision,
  approval_decision: approval.decision,
});

/** The approval of a job; one that was never resolved is void once the job has ended otherwise, such as by a cancel. */
export function getApproval({ approval, state, updated_at }: JobRecord): ApprovalRecord | undefined {
  if (approval?.status !== 'pending' || state === 'APPROVAL_REQUIRED') return approval;
  const decision = state === 'TIMEOUT' ? 'expire' : 'invalidate';
  return { ...approval, status: 'invalidated', decision, revision: approval.revision + 1, resolved_at: updated_at };
}

/** See docs/reference/jobs.md#approvals. */
export function actionability(approval: ApprovalRecord): string {
  switch (approval.status) {
    case 'pending':
      return 'actionable';
    case 'approved':
    case 'rejected':
      return 'resolved';
    case 'repaired':
      return 'repaired';
    case 'invalidated':
      return approval.decision === 'expire' ? 'expired' : 'invalidated';
  }
}

/** A rejected job has no worker result; readers get the rejection in its place. */
const refusalResult = (job: JobRecord): unknown =>
  job.state !== 'DENIED'
    ? null
    : {
        job_id: job.id,
        status: 'JOB_STATUS_DENIED',
        error: { message: job.error_message ?? '' },
        processed_by: 'gateway',
        completed_at: job.completed_at ? new Date(job.completed_at / 1_000).toISOString() : null,
      };
