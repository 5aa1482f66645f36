export const severities = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** A finding in a body. See docs/reference/policy.md#output-policy. */
export interface Finding {
  /** secret_leak, pii, code_injection, a custom scanner's type, content_pattern_match or keyword_match. */
  type: string;
  severity: Severity;
  detail: string;
  scanner: string;
  /** From 0 to 1. */
  confidence: number;
  /** The name of the pattern, never the text it matched. */
  matched_pattern: string;
  /** Bytes from the start of the raw body. */
  offset: number;
  /** Bytes. */
  length: number;
}

/** A finding without its position. */
export type Label = Omit<Finding, 'offset' | 'length'>;

/** Receives a finding; returns false to stop. */
export type Report = (label: Label, offset: number, length: number) => boolean;
