import type { DecisionSummary } from '@svc/contract';
import type { JobRecord } from '@svc/store';

/**
 * Summarizes a held job for the approver, from the payload's `decision` object if present.
 * See docs/reference/jobs.md#approvals.
 */
export function decisionSummary(
  job: JobRecord,
  hasContext: boolean,
  input: Record<string, unknown> | null,
): DecisionSummary {
  const inner = (input?.['context'] ?? input ?? {}) as Record<string, unknown>;
  const payload = inner['decision'];
  const decision = payload !== null && typeof payload === 'object' ? (payload as Record<string, unknown>) : {};
  const textField = (key: string) => (typeof decision[key] === 'string' ? { [key]: decision[key] } : {});
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
    ...textField('subject'),
    ...textField('next_effect'),
    ...textField('currency'),
    ...textField('vendor'),
    ...textField('escalation_reason'),
    ...((typeof decision['amount'] === 'number' || typeof decision['amount'] === 'string') && {
      amount: decision['amount'],
    }),
    ...(items && { item_count: items.length, items_preview: items.slice(0, 3) }),
    ...(missing.length > 0 && { missing_fields: missing }),
  };
}
