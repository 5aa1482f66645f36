import type { ContentFinding } from '@svc/policy';

/** Search terms in a form that can be sent to threads: patterns as their sources. */
export interface NeedsMessage {
  scanners: readonly string[];
  detectors: readonly string[];
  patterns: readonly string[];
  keywords: readonly string[];
}

/** Texts are scanned per need, so that each rule gets its own findings. */
export interface ScanQuestion {
  texts: readonly Uint8Array[];
  needs: readonly NeedsMessage[];
  maxBytes: number;
  /** Timeout in milliseconds, when lower than that of the pool. */
  limitMs?: number;
}

export interface TextScan {
  findings: ContentFinding[];
  truncated: boolean;
}

/** By the order of the needs, then of the texts. */
export type ScanAnswer = TextScan[][];

/** First message of a thread: its code is loaded, and the timeout starts. */
export const threadReady = 'ready';

/** Start data of a scan thread. */
export interface ScanThreadData {
  /** Text of the scanners file; undefined for the built-in scanners. */
  text: string | undefined;
}
