import type { ContentFinding, ContentNeeds } from '../evaluate/content';

/** What a job returned, as the output rules look at it. See docs/reference/policy.md#output-policy. */
export interface OutputRequest {
  phase: 'metadata' | 'content';
  topic: string;
  tenant?: string;
  labels?: Readonly<Record<string, string>>;
  capabilities?: readonly string[];
  risk_tags?: readonly string[];
  error_message?: string;
  error_code?: string;
  output_size_bytes?: number;
}

/** `truncated`: only the first part was scanned. `unreadable`: there is no body to be had. `fault`: the scanner failed. */
export type OutputScan =
  { kind: 'scanned'; findings: ContentFinding[]; truncated?: boolean } | { kind: 'unreadable' } | { kind: 'fault' };

/** Looks into the body, and the error text when there is one, for what one rule needs. Rules may ask the same twice. */
export type FindOutput = (needs: ContentNeeds) => OutputScan;

export interface OutputDecision {
  decision: 'ALLOW' | 'QUARANTINE' | 'REDACT';
  reason: string;
  /** Empty when no rule decided. */
  rule_id: string;
  policy_snapshot: string;
  /**
   * Of the deciding rule; also `content_truncated` when the scan was not of the whole, and `scan_skipped` when a scanner
   * failed and fail mode open passed over its rule.
   */
  findings: ContentFinding[];
  /** Metadata phase only: whether the body has to be read at all; false after a verdict that stands without it. */
  contentPhaseNeeded: boolean;
  /** A rule still waiting asks that nothing is released before it was answered. */
  hold: boolean;
}
