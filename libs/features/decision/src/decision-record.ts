import type { PolicyDecision } from '@svc/policy';
import type { DecisionRecord, JobRecord } from '@svc/store';

/** Converts a policy decision to the record that is stored with its job. */
export function toDecisionRecord(
  decision: PolicyDecision,
  jobHash: string,
  source: DecisionRecord['source'],
  nowUs: number,
): DecisionRecord {
  return {
    decision: decision.decision,
    ...(decision.reason && { reason: decision.reason }),
    ...(decision.rule_id && { rule_id: decision.rule_id }),
    policy_snapshot: decision.policy_snapshot,
    ...(decision.constraints && { constraints: { ...decision.constraints } }),
    ...(decision.approval_required && { approval_required: true }),
    ...(decision.approval_ref && { approval_ref: decision.approval_ref }),
    job_hash: jobHash,
    ...(decision.remediations.length > 0 && { remediations: decision.remediations.map((entry) => ({ ...entry })) }),
    checked_at: nowUs,
    source,
  };
}

/** The fields of a job that hold its latest decision. */
export const safetyFields = (decision: DecisionRecord): Pick<JobRecord, 'safety' | 'safety_snapshot'> => ({
  safety: decision,
  safety_snapshot: policyPart(decision.policy_snapshot ?? ''),
});

/** The part of a snapshot that names the policy itself. See docs/reference/policy.md#snapshots. */
export const policyPart = (snapshot: string): string => snapshot.split('|')[0] ?? '';
