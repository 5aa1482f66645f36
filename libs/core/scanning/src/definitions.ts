import type { Severity } from './finding';

export const confidences = ['low', 'medium', 'high'] as const;
export type Confidence = (typeof confidences)[number];

/** Confidence of a pattern, as a number on the wire. See docs/scanning.md. */
export const confidenceNumber: Readonly<Record<Confidence, number>> = { high: 0.95, medium: 0.7, low: 0.4 };

/** One pattern of a scanner, as in the definitions file. */
export interface PatternDefinition {
  name: string;
  /** RE2 class. When it has a group named `value`, only that part of the match is the finding. */
  regex: string;
  severity: Severity;
  confidence: Confidence;
  /** Counts only when a related word occurs within 64 characters. */
  context_required: boolean;
}

/** Finding types that a file's scanner can report; `custom` is for operators' own scanners. */
export const findingTypes = ['secret_leak', 'pii', 'code_injection', 'custom'] as const;

export interface ScannerDefinition {
  finding_type: (typeof findingTypes)[number];
  patterns: readonly PatternDefinition[];
}

/** Scanners by name. Plain data, so that it can be sent to another thread. */
export type ScannerDefinitions = Readonly<Record<string, ScannerDefinition>>;

/**
 * A built-in pattern. The same `regex` runs in V8's engine, which is fast but must only get patterns that take linear time:
 * repetitions are bounded or end the match, and none contains another that can match the same text. It uses only ASCII
 * classes, so that it can run over raw bytes, and is tried only at one of its needles, or at the position that `begin`
 * returns for it.
 */
export interface BuiltInPattern extends PatternDefinition {
  /** Every match starts with one of these, unless `begin` is set: lower case, and `0` matches any digit. */
  needles: readonly string[];
  /** From the position of a needle back to the start of a match; byte offsets. */
  begin?(body: Uint8Array, needleAt: number): number;
}
