import { limits } from '@svc/contract';
import type { Kernel, OutputCheckRequest, OutputVerdict } from '@svc/kernel-client';

export interface BodyVerdict extends OutputVerdict {
  scanned_bytes: number;
  /** There was more than could be scanned. */
  truncated: boolean;
}

const severity = { ALLOW: 0, REDACT: 1, QUARANTINE: 2 } as const;

/**
 * Asks output policy about a body, window by window when it is long: windows overlap, so that nothing hides at a seam, and
 * the strictest answer is the answer. Ends at the first quarantine. See docs/reference/policy.md#output-policy.
 *
 * @param body as much of it as was read
 */
export async function checkBody(
  kernel: Pick<Kernel, 'checkOutput'>,
  asked: OutputCheckRequest,
  body: Buffer,
  sizeBytes: number,
): Promise<BodyVerdict> {
  const step = limits.scanBytes - limits.scanOverlapBytes;
  let strictest: OutputVerdict | undefined;
  const findings = new Map<string, OutputVerdict['findings'][number]>();
  let scannedBytes = 0;
  for (let from = 0; strictest?.decision !== 'QUARANTINE' && (from === 0 || scannedBytes < body.length); from += step) {
    const window = body.subarray(from, from + limits.scanBytes);
    const verdict = await kernel.checkOutput({ ...asked, output_size_bytes: sizeBytes, output_content: window });
    scannedBytes = from + window.length;
    for (const finding of verdict.findings) {
      // Whether the whole was scanned is known here only.
      if (finding.type === 'content_truncated') continue;
      const placed = finding.offset === undefined ? finding : { ...finding, offset: finding.offset + from };
      findings.set(JSON.stringify([placed.type, placed.matched_pattern, placed.offset, placed.length]), placed);
    }
    if (!strictest || severity[verdict.decision] > severity[strictest.decision]) strictest = verdict;
  }
  if (!strictest) throw new Error('a body has at least one window');
  const truncated = scannedBytes < sizeBytes && strictest.decision !== 'QUARANTINE';
  const cut = {
    type: 'content_truncated',
    severity: 'low',
    confidence: 1,
    detail: '',
    scanner: '',
    matched_pattern: '',
  };
  return {
    ...strictest,
    findings: [...findings.values(), ...(truncated ? [cut as OutputVerdict['findings'][number]] : [])],
    scanned_bytes: scannedBytes,
    truncated,
  };
}
