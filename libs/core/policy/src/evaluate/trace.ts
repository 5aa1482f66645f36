import type { Verdict } from '../document/words';

/** Sets of rules in search order. See docs/reference/policy.md#evaluation. */
export type SearchSet = 'invariants' | 'velocity' | 'job' | 'workflow' | 'global' | 'invariant_allows' | 'content';

/** The result of one rule that was considered. */
export interface RuleTrace {
  set: SearchSet;
  ruleId: string;
  /** The document the rule came from. */
  source: string;
  /** The decision of the rule when it matches. */
  verdict: Verdict;
  /**
   * `other_section`: a permitting rule that does not apply to such requests (3.4). `unavailable`: its velocity window
   * could not be counted.
   */
  outcome: 'matched' | 'not_matched' | 'other_section' | 'unavailable';
  /** The key of the condition that failed, such as `risk_tags` or `velocity.max_requests`. */
  failed?: string;
}
