import { jobProgressPacket, subjects } from '@svc/contract';
import type { OutputVerdict } from '@svc/kernel-client';
import type { JobRecord, OutputSafetyRecord } from '@svc/store';
import type { OutputSafetyDeps } from './output-safety-deps';

/** Converts a verdict to the record that is stored with the job. */
export const toOutputSafetyRecord = (
  { clock }: Pick<OutputSafetyDeps, 'clock'>,
  startedUs: number,
  phase: 'sync' | 'async',
  verdict: Pick<OutputVerdict, 'decision' | 'reason' | 'rule_id' | 'policy_snapshot' | 'findings'>,
): OutputSafetyRecord => ({
  decision: verdict.decision,
  reason: verdict.reason,
  rule_id: verdict.rule_id,
  policy_snapshot: verdict.policy_snapshot,
  findings: toRecordedFindings(verdict.findings),
  phase,
  checked_at: clock.nowUs(),
  check_duration_ms: (clock.nowUs() - startedUs) / 1_000,
});

/** Adds the legacy name `pattern` of `matched_pattern`. */
export const toRecordedFindings = (findings: OutputVerdict['findings']): OutputSafetyRecord['findings'] =>
  findings.map((finding) => ({ ...finding, pattern: finding.matched_pattern }));

/**
 * Publishes the verdict on a result that was withheld, redacted or not scanned. The event holds nothing of the result; when
 * it cannot be published, the record of the job remains the source of truth. See docs/subjects.md.
 */
export async function publishOutputEvent(
  deps: OutputSafetyDeps,
  job: Pick<JobRecord, 'id' | 'trace_id' | 'tenant'>,
  verdict: OutputSafetyRecord | undefined,
): Promise<void> {
  if (!verdict || (verdict.decision === 'ALLOW' && !verdict.skipped)) return;
  const head = { trace_id: job.trace_id, sender_id: deps.senderId, nowUs: deps.clock.nowUs() };
  const packet = jobProgressPacket(head, {
    job_id: job.id,
    step_id: 'output_policy',
    message: summarize(verdict),
    identity: { tenant_id: job.tenant },
  });
  await deps.bus
    .publish(subjects.auditOutputPolicy.name, packet)
    .catch((error: unknown) => deps.events.publishFailed(job.id, error));
}

function summarize({ decision, phase, rule_id, reason, findings, skipped }: OutputSafetyRecord): string {
  const by = rule_id === '' ? '' : ` by ${rule_id}`;
  const found = findings.length === 0 ? '' : ` (${findings.length} findings)`;
  return `${skipped ? 'SKIPPED' : decision} (${phase})${by}: ${reason}${found}`;
}
