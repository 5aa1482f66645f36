import type { Severity } from './finding';

export const confidences = ['low', 'medium', 'high'] as const;
export type Confidence = (typeof confidences)[number];

/** How sure a pattern is, as a number on the wire. See docs/scanning.md. */
export const confidenceNumber: Readonly<Record<Confidence, number>> = { high: 0.95, medium: 0.7, low: 0.4 };

/** One pattern of a scanner, as it is written in the definitions file. */
export interface PatternDefinition {
  name: string;
  /** RE2 class. When it has a group named `value`, only that part of the match is the finding. */
  regex: string;
  severity: Severity;
  confidence: Confidence;
  /** Counts only when a related word stands within 64 characters. */
  context_required: boolean;
}

/** What a scanner of a file may report; `custom` is for one of the operator's own. */
export const findingTypes = ['secret_leak', 'pii', 'code_injection', 'custom'] as const;

export interface ScannerDefinition {
  finding_type: (typeof findingTypes)[number];
  patterns: readonly PatternDefinition[];
}

/** Scanners by name. Plain data, so that it can be sent to another thread. */
export type ScannerDefinitions = Readonly<Record<string, ScannerDefinition>>;

/**
 * A pattern that comes with this library. The same `regex` runs in V8's engine, which is fast but must never be given a
 * pattern that takes more than linear time: repetitions are bounded or end the match, and none holds another that can
 * match the same text. It names only ASCII classes, so that it may run over raw bytes, and is tried only where one of its
 * needles begins, or where `begin` leads from there.
 */
export interface BuiltInPattern extends PatternDefinition {
  /** Every match begins with one of these, but for `begin`: lower case, and `0` stands for any digit. */
  needles: readonly string[];
  /** From the place of a needle back to where a match around it begins; byte offsets. */
  begin?(body: Uint8Array, needleAt: number): number;
}
