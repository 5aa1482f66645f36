import type { ContentPattern } from '../compile/regex';

/** A finding in a text. Offsets and lengths are bytes. See docs/reference/policy.md#output-policy. */
export interface ContentFinding {
  /** secret_leak, pii, code_injection, custom, or one of the rules themselves, such as input_size_exceeded. */
  type: string;
  severity: string;
  detail?: string;
  scanner?: string;
  /** From 0 to 1. */
  confidence?: number;
  /** The name of the pattern, never the text it matched. */
  matched_pattern?: string;
  offset?: number;
  length?: number;
}

/** Needs of a rule. A finding of any listed scanner, detector (finding type), pattern or keyword counts. */
export interface ContentNeeds {
  scanners: readonly string[];
  detectors: readonly string[];
  patterns: readonly ContentPattern[];
  keywords: readonly string[];
}

/** Scans a text; `overrun` when it timed out. Bytes are UTF-8. One request has 50 ms. */
export type ScanContent = (content: Uint8Array, needs: ContentNeeds) => ContentFinding[] | 'overrun';

export const needsNothing = (needs: ContentNeeds): boolean =>
  needs.scanners.length + needs.detectors.length + needs.patterns.length + needs.keywords.length === 0;

/** Equal for equal needs, so that a text is scanned once for them. */
export const needsKey = ({ scanners, detectors, patterns, keywords }: ContentNeeds): string =>
  JSON.stringify([scanners, detectors, patterns.map(({ source }) => source), keywords]);
