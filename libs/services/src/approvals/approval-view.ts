import type { ApprovalView, DecisionSummary } from '@svc/contract';
import type { JobRecord } from '@svc/store';
import { isGate } from '../jobs/job-packet';
import { actionability, approvalOf, decoded, jobItemOf } from '../jobs/job-views';

/** An approval in lists. Core contract 13.1. */
export function approvalView(job: JobRecord, context: Buffer | null): ApprovalView {
  const { request, safety } = job;
  const approval = approvalOf(job);
  const input = decoded(context) as Record<string, unknown> | null;
  return {
    job: jobItemOf(job),
    decision: safety?.decision ?? '',
    policy_snapshot: approval?.policy_snapshot ?? '',
    policy_rule_id: safety?.rule_id ?? '',
    policy_reason: safety?.reason ?? '',
    constraints: safety?.constraints ?? null,
    job_hash: approval?.job_hash ?? '',
    approval_required: safety?.approval_required ?? false,
    approval_ref: job.id,
    approval_status: approval?.status ?? 'pending',
    approval_actionability: approval ? actionability(approval) : 'actionable',
    approval_revision: approval?.revision ?? 0,
    decision_summary: summary(job, context !== null, input),
    blast_radius: blastRadius(request.labels),
    rollback_hint: request.labels['rollback_hint'] ?? '',
    submitted_by: job.submitter,
    ...(approval?.decision && { approval_decision: approval.decision }),
    ...(approval?.resolved_by && { resolved_by: approval.resolved_by }),
    ...(approval?.note && { resolved_comment: approval.note }),
    ...(approval?.reason && { resolution: approval.reason }),
    ...(approval?.resolved_at && { resolved_at: approval.resolved_at }),
    ...(request.workflow_id && { workflow_id: request.workflow_id }),
    ...(request.run_id && { workflow_run_id: request.run_id }),
    ...(request.step_id && { workflow_step_id: request.step_id }),
    ...(isGate(job.topic) && { gate_type: request.labels['gate_type'] ?? 'workflow_approval' }),
    ...(context && { context_ptr: `redis://ctx:${job.id}` }),
    ...(input && { job_input: input }),
  };
}

/** What the decider needs to know, from the payload's `decision` object where there is one. Core contract 13.1. */
function summary(job: JobRecord, hasContext: boolean, input: Record<string, unknown> | null): DecisionSummary {
  const inner = (input?.['context'] ?? input ?? {}) as Record<string, unknown>;
  const payload = inner['decision'];
  const decision = payload !== null && typeof payload === 'object' ? (payload as Record<string, unknown>) : {};
  const word = (key: string) => (typeof decision[key] === 'string' ? { [key]: decision[key] } : {});
  const items = Array.isArray(decision['items']) ? (decision['items'] as unknown[]) : undefined;
  const why = typeof decision['why'] === 'string' ? decision['why'] : job.safety?.reason;
  const missing = [
    ...(hasContext ? [] : ['approval_context']),
    ...(Object.keys(decision).length > 0 ? [] : ['business_context']),
    ...(why ? [] : ['why']),
  ];
  return {
    source: hasContext ? 'workflow_payload' : 'policy_only',
    completeness: missing.length === 0 ? 'rich' : missing.length < 3 ? 'partial' : 'minimal',
    context_status: input ? 'available' : hasContext ? 'malformed' : 'missing',
    title: typeof decision['title'] === 'string' ? decision['title'] : `Run ${job.topic}`,
    ...(why && { why }),
    ...word('subject'),
    ...word('next_effect'),
    ...word('currency'),
    ...word('vendor'),
    ...word('escalation_reason'),
    ...((typeof decision['amount'] === 'number' || typeof decision['amount'] === 'string') && {
      amount: decision['amount'],
    }),
    ...(items && { item_count: items.length, items_preview: items.slice(0, 3) }),
    ...(missing.length > 0 && { missing_fields: missing }),
  };
}

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
