import type { ApprovalView, Caller, DecisionSummary, ListView } from '@svc/contract';
import type { JobRecord, Store } from '@svc/store';
import { isGate } from '../jobs/job-packet';
import { actionability, approvalOf, decoded, jobItemOf } from '../jobs/job-views';

const chunk = 200;

/** Approvals of a tenant, newest change first. Core contract 13.1. */
export async function listApprovals(
  { store }: { store: Store },
  caller: Caller,
  query: { limit: number; include_resolved: boolean; cursor?: number },
): Promise<ListView<ApprovalView>> {
  const found: { job: JobRecord; atUs: number }[] = [];
  let upper = query.cursor ?? Infinity;
  let more = true;
  while (more && found.length <= query.limit) {
    const rows = await store.index.approvals(caller.tenant, upper, chunk);
    const at = new Map(rows.map(({ id, atUs }) => [id, atUs]));
    const jobs = await store.index.records([...at.keys()]);
    const wanted = jobs.filter((job) => query.include_resolved || approvalOf(job)?.status === 'pending');
    // A job that moved on meanwhile stays where the list has it, so that the cursor does not jump back up.
    found.push(...wanted.map((job) => ({ job, atUs: at.get(job.id) ?? job.updated_at })));
    more = rows.length === chunk;
    upper = (rows.at(-1)?.atUs ?? 0) - 1;
  }
  const shown = found.slice(0, query.limit);
  const last = shown.at(-1);
  const items = await Promise.all(shown.map(async ({ job }) => approvalView(job, await store.data.context(job.id))));
  return { items, next_cursor: found.length > query.limit && last ? last.atUs - 1 : null };
}

function approvalView(job: JobRecord, context: Buffer | null): ApprovalView {
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
  const decision = (inner['decision'] ?? {}) as Record<string, unknown>;
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
