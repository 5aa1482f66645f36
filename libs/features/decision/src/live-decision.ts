import type { PolicyDecision, PolicyRequest } from '@svc/policy';
import type { DecisionRecord } from '@svc/store';
import { policyPart } from './decision-record';

/** A decision that policy made about a job, with what it was asked. */
export interface LiveDecision {
  request: PolicyRequest;
  decision: PolicyDecision;
}

/** Hears of live decisions. */
export interface Shadows {
  /**
   * Costs those who decide a look into a map; all else happens later. Whoever made the decision that counts for a job tells
   * it, so that there is one result for a decision though policy is asked twice (ADR 5): the gateway and the engine tell
   * those after which nobody asks again (denied, held, throttled), the scheduler all others, which are the ones it asks
   * for itself.
   */
  decided(live: LiveDecision): void;
}

/**
 * Whether shadows heard of this decision before: a throttled job is asked about every few seconds, and one that is tried
 * again each time, which would count the same decision again and again.
 *
 * @param last the decision that was kept with the job before
 */
export function isToldBefore(last: DecisionRecord | undefined, { decision, rule_id, policy_snapshot }: PolicyDecision) {
  const isToldAtOnce = last?.source === 'scheduler' || isSettledAtOnce(decision);
  return (
    isToldAtOnce &&
    last?.decision === decision &&
    (last.rule_id ?? '') === rule_id &&
    policyPart(last.policy_snapshot ?? '') === policyPart(policy_snapshot)
  );
}

/** Whether a job is not asked about again after this answer to its submission. */
export const isSettledAtOnce = (decision: PolicyDecision['decision']): boolean =>
  decision !== 'ALLOW' && decision !== 'ALLOW_WITH_CONSTRAINTS';
