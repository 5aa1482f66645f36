import type { Verdict } from '../document/words';

/** Sets of rules in the order they are searched. See docs/reference/policy.md#evaluation. */
export type SearchSet = 'invariants' | 'velocity' | 'job' | 'workflow' | 'global' | 'invariant_allows' | 'content';

/** What became of one rule that was looked at. */
export interface RuleTrace {
  set: SearchSet;
  ruleId: string;
  /** The document the rule came from. */
  source: string;
  /** What the rule decides when it matches. */
  verdict: Verdict;
  /**
   * `other_section`: a permitting rule that does not speak of such requests (3.4). `unavailable`: its velocity window
   * could not be counted.
   */
  outcome: 'matched' | 'not_matched' | 'other_section' | 'unavailable';
  /** The key of the rule that did not hold, such as `risk_tags` or `velocity.max_requests`. */
  failed?: string;
}
