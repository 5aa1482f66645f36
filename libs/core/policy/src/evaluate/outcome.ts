import type { CompiledRule } from '../compile/compile-rule';
import { isConstraining, tighter } from '../compile/constraints';
import type { Constraints, Remediation } from '../document/policy-document';
import { isStricter, type Verdict } from '../document/words';
import type { ContentFinding } from './content';
import type { PolicyDecision } from './request';

/** A decision within the pipeline. */
export interface Outcome {
  verdict: Verdict;
  reason: string;
  /** Empty when no rule decided. */
  ruleId: string;
  constraints?: Constraints | undefined;
  remediations?: readonly Remediation[];
  throttleMs?: number | undefined;
  findings?: ContentFinding[];
}

export const denial = (reason: string): Outcome => ({ verdict: 'DENY', reason, ruleId: '' });

export const ofRule = (rule: CompiledRule): Outcome => ({
  // An allow with any limit is an allow with constraints (3.2), also when it is compared with another rule.
  verdict: rule.verdict === 'ALLOW' && isConstraining(rule.constraints) ? 'ALLOW_WITH_CONSTRAINTS' : rule.verdict,
  reason: rule.reason,
  ruleId: rule.id,
  constraints: rule.constraints,
  remediations: rule.remediations,
  throttleMs: rule.throttleMs,
});

/**
 * The stricter of a global and a narrower rule, the narrower when they are equal; the constraints of both apply.
 * See docs/reference/policy.md#evaluation.
 */
export function pickStricter(wide: Outcome, narrow: Outcome): Outcome {
  const stricter = isStricter(wide.verdict, narrow.verdict) ? wide : narrow;
  return { ...stricter, constraints: tighter(wide.constraints, narrow.constraints) };
}

/** The fields of each verdict. */
export function toRecord(outcome: Outcome, snapshot: string, jobId: string): PolicyDecision {
  const { verdict, reason, ruleId, constraints, remediations = [], throttleMs, findings } = outcome;
  const limits = verdict !== 'DENY' && verdict !== 'THROTTLE' && isConstraining(constraints);
  const decision = verdict === 'ALLOW' && limits ? 'ALLOW_WITH_CONSTRAINTS' : verdict;
  const permits = decision === 'ALLOW' || decision === 'ALLOW_WITH_CONSTRAINTS';
  return {
    decision,
    reason,
    rule_id: ruleId,
    policy_snapshot: snapshot,
    ...(limits && { constraints }),
    remediations: permits ? [] : [...remediations],
    approval_required: decision === 'REQUIRE_APPROVAL',
    ...(decision === 'REQUIRE_APPROVAL' && jobId !== '' && { approval_ref: jobId }),
    ...(decision === 'THROTTLE' && throttleMs !== undefined && { throttle_duration_ms: throttleMs }),
    ...(findings?.length && { findings }),
  };
}
