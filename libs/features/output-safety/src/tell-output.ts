import { jobProgressPacket, subjects } from '@svc/contract';
import type { JobRecord, OutputSafetyRecord } from '@svc/store';
import type { OutputSafetyDeps } from './output-safety-deps';

/**
 * Says on the bus what became of a result that was not simply released, for whoever watches; the record is the truth, and
 * nothing of the result is told. See docs/subjects.md.
 */
export async function tellOutput(
  deps: OutputSafetyDeps,
  job: Pick<JobRecord, 'id' | 'trace_id'>,
  verdict: OutputSafetyRecord | undefined,
): Promise<void> {
  if (!verdict || (verdict.decision === 'ALLOW' && !verdict.skipped)) return;
  const head = { trace_id: job.trace_id, sender_id: deps.senderId, nowUs: deps.clock.nowUs() };
  const packet = jobProgressPacket(head, { job_id: job.id, step_id: 'output_policy', message: summaryOf(verdict) });
  await deps.bus
    .publish(subjects.auditOutputPolicy.name, packet)
    .catch((error: unknown) => deps.events.publishFailed(job.id, error));
}

function summaryOf({ decision, phase, rule_id, reason, findings, skipped }: OutputSafetyRecord): string {
  const by = rule_id === '' ? '' : ` by ${rule_id}`;
  const found = findings.length === 0 ? '' : ` (${findings.length} findings)`;
  return `${skipped ? 'SKIPPED' : decision} (${phase})${by}: ${reason}${found}`;
}
