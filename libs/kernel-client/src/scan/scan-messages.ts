import type { ContentFinding } from '@svc/policy';

/** What to look for, in a form that passes between threads: patterns as their sources. */
export interface NeedsMessage {
  scanners: readonly string[];
  detectors: readonly string[];
  patterns: readonly string[];
  keywords: readonly string[];
}

/** Texts are scanned for each of the needs apart, so that each rule gets findings of its own. */
export interface ScanQuestion {
  texts: readonly Uint8Array[];
  needs: readonly NeedsMessage[];
  maxBytes: number;
}

export interface TextScan {
  findings: ContentFinding[];
  truncated: boolean;
}

/** By the order of the needs, then of the texts. */
export type ScanAnswer = TextScan[][];

/** What a scan thread is started with. */
export interface ScanThreadData {
  /** Of the scanners file, undefined for the built-in scanners. */
  text: string | undefined;
}
