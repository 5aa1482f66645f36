import { type ApprovalView, isGate, type PolicySnapshotSummary } from '@svc/contract';
import type { ApprovalRecord, JobRecord } from '@svc/store';
import { actionability, getApproval, parseJsonOrNull, toJobItem } from '@svc/jobs';
import { policyPart } from '@svc/decision';
import { isRecord } from '@svc/json';
import { getApprovals } from './approval-record';
import { decisionSummary } from './decision-summary';

/** API view of an approval. See docs/reference/jobs.md#approvals. */
export function approvalView(job: JobRecord, context: Buffer | null): ApprovalView {
  const { request, safety } = job;
  const approval = getApproval(job);
  const input = parseJsonOrNull(context) as Record<string, unknown> | null;
  return {
    job: toJobItem(job),
    decision: safety?.decision ?? '',
    policy_snapshot: approval?.policy_snapshot ?? '',
    policy_rule_id: safety?.rule_id ?? '',
    policy_reason: safety?.reason ?? '',
    constraints: safety?.constraints ?? null,
    job_hash: approval?.job_hash ?? '',
    approval_required: safety?.approval_required ?? approval?.gate !== undefined,
    approval_ref: job.id,
    approval_status: approval?.status ?? 'pending',
    approval_actionability: approval ? actionability(approval) : 'actionable',
    approval_revision: approval?.revision ?? 0,
    decision_summary: decisionSummary(job, context !== null, input),
    blast_radius: blastRadius(request.labels),
    rollback_hint: request.labels['rollback_hint'] ?? '',
    policy_snapshot_summary: policySummary(job, approval?.policy_snapshot ?? ''),
    submitted_by: job.submitter,
    ...(approval?.decision && { approval_decision: approval.decision }),
    ...(approval?.resolved_by && { resolved_by: approval.resolved_by }),
    ...(approval?.note && { resolved_comment: approval.note }),
    ...(approval?.reason && { resolution: approval.reason }),
    ...(approval?.resolved_at && { resolved_at: approval.resolved_at }),
    ...originFields(job, input),
    ...(approval?.gate && progress(approval)),
    ...(context && { context_ptr: `redis://ctx:${job.id}` }),
    ...(input && { job_input: input }),
  };
}

/** Workflow, run and step of a job. For a gate they are in its labels, and their display names in its payload. */
function originFields(
  { topic, run, request }: JobRecord,
  input: Record<string, unknown> | null,
): Partial<ApprovalView> {
  const { labels } = request;
  const gate = isGate(topic);
  const named = input?.['kind'] === 'workflow_approval_context' ? input['workflow'] : undefined;
  const names = gate && named !== null && typeof named === 'object' ? (named as Record<string, unknown>) : {};
  const name = (key: 'workflow_name' | 'step_name') => (typeof names[key] === 'string' ? { [key]: names[key] } : {});
  const workflow_id = request.workflow_id ?? (gate ? labels['workflow_id'] : undefined);
  const workflow_run_id = run ?? (gate ? labels['run_id'] : undefined);
  const workflow_step_id = request.step_id ?? (gate ? labels['step_id'] : undefined);
  return {
    ...(workflow_id && { workflow_id }),
    ...(workflow_run_id && { workflow_run_id }),
    ...(workflow_step_id && { workflow_step_id }),
    ...name('workflow_name'),
    ...name('step_name'),
    ...(gate && { gate_type: labels['gate_type'] ?? 'workflow_approval' }),
  };
}

const progress = (approval: ApprovalRecord): Partial<ApprovalView> => ({
  approvals: getApprovals(approval).length,
  approvals_needed: approval.gate?.quorum ?? 1,
  ...(approval.gate?.escalated && { escalated_to: approval.gate.escalate_to ?? '' }),
});

/** `rule_count` is null: only the kernel knows it, and does not report it. */
const policySummary = ({ safety }: JobRecord, snapshot: string): PolicySnapshotSummary => ({
  rule_count: null,
  matched_rule: safety?.rule_id
    ? {
        id: safety.rule_id,
        description: safety.reason ?? '',
        decision: safety.decision,
        constraints_summary: summarizeConstraints(safety.constraints ?? {}),
      }
    : null,
  policy_version: policyPart(snapshot),
});

/** `budgets.max_retries: 3; redaction_level: strict` */
const summarizeConstraints = (constraints: Record<string, unknown>, prefix = ''): string =>
  Object.entries(constraints)
    .map(([name, value]) =>
      isRecord(value)
        ? summarizeConstraints(value, `${prefix}${name}.`)
        : `${prefix}${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`,
    )
    .filter((words) => words !== '')
    .join('; ');

function blastRadius(labels: Readonly<Record<string, string>>): ApprovalView['blast_radius'] {
  const named = (kind: string) =>
    Object.entries(labels).flatMap(([label, value]) => {
      if (label === `target_${kind}`) return [value];
      return label.startsWith(`${kind}:`) ? [label.slice(kind.length + 1)] : [];
    });
  const [systems, namespaces, resources] = [named('system'), named('namespace'), named('resource')];
  const parts = [
    ['systems', systems],
    ['namespaces', namespaces],
    ['resources', resources],
  ] as const;
  const words = parts.filter(([, list]) => list.length > 0).map(([name, list]) => `${name}: ${list.join(', ')}`);
  return { systems, namespaces, resources, scope_description: words.join('; ') };
}
