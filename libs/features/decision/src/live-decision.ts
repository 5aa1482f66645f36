import type { PolicyDecision, PolicyRequest } from '@svc/policy';
import type { DecisionRecord, JobRecord } from '@svc/store';
import { policyPart } from './decision-record';

/** A policy decision about a job, with its request. */
export interface LiveDecision {
  request: PolicyRequest;
  decision: PolicyDecision;
}

/** Receives live decisions for comparison with shadow policies. */
export interface ShadowReporter {
  /**
   * O(1) on the decision path; evaluation is asynchronous. Each decision is reported once, though policy is asked twice
   * (ADR 5): the gateway and the engine report final decisions (denied, held, throttled) and those by which they have placed
   * the job, the scheduler reports its own.
   */
  decided(live: LiveDecision): void;
}

/**
 * Whether this decision was reported before. A throttled or retried job is asked about repeatedly, and the same decision must
 * count once.
 *
 * @param last the decision stored with the job before
 * @param decided `submission` when the job was placed by its first decision, which was reported then
 */
export function wasReported(
  last: DecisionRecord | undefined,
  { decision, rule_id, policy_snapshot }: PolicyDecision,
  decided?: JobRecord['decided'],
) {
  const isReportedAtOnce = last?.source === 'scheduler' || decided === 'submission' || isFinalDecision(decision);
  return (
    isReportedAtOnce &&
    last?.decision === decision &&
    (last.rule_id ?? '') === rule_id &&
    policyPart(last.policy_snapshot ?? '') === policyPart(policy_snapshot)
  );
}

/** Whether a decision at submission is final, so that the scheduler does not ask again. */
export const isFinalDecision = (decision: PolicyDecision['decision']): boolean =>
  decision !== 'ALLOW' && decision !== 'ALLOW_WITH_CONSTRAINTS';
