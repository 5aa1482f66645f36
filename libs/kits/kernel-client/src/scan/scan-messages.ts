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
  /** How long the scan may take, in milliseconds, when that is less than the pool grants. */
  limitMs?: number;
}

export interface TextScan {
  findings: ContentFinding[];
  truncated: boolean;
}

/** By the order of the needs, then of the texts. */
export type ScanAnswer = TextScan[][];

/** The first thing a thread says: its code is loaded, and time counts from here. */
export const threadReady = 'ready';

/** What a scan thread is started with. */
export interface ScanThreadData {
  /** Of the scanners file, undefined for the built-in scanners. */
  text: string | undefined;
}
