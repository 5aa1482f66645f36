import type { ContentFinding, ContentNeeds } from '../evaluate/content';

/** The result of a job, as output rules evaluate it. See docs/reference/policy.md#output-policy. */
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

/** `truncated`: only the first part was scanned. `unreadable`: the body could not be read. `fault`: the scanner failed. */
export type OutputScan =
  { kind: 'scanned'; findings: ContentFinding[]; truncated?: boolean } | { kind: 'unreadable' } | { kind: 'fault' };

/** Scans the body, and the error text when there is one, for the needs of one rule. Rules may repeat the same needs. */
export type FindOutput = (needs: ContentNeeds) => OutputScan;

export interface OutputDecision {
  decision: 'ALLOW' | 'QUARANTINE' | 'REDACT';
  reason: string;
  /** Empty when no rule decided. */
  rule_id: string;
  policy_snapshot: string;
  /**
   * From the deciding rule; also `content_truncated` when only a part was scanned, and `scan_skipped` when a scanner failed
   * and fail mode open skipped its rule.
   */
  findings: ContentFinding[];
  /** Metadata phase only: whether the body must be read; false when the verdict is final without it. */
  contentPhaseNeeded: boolean;
  /** A rule that waits for the body requires that nothing is released before it is decided. */
  hold: boolean;
}
