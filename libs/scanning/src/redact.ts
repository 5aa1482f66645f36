import { scan } from './scan';
import { builtInScanners } from './scanner-set';

const mark = Buffer.from('[REDACTED]');

/**
 * A copy of a body with every finding's range replaced by `[REDACTED]`; ranges that overlap or touch become one. Ranges
 * outside the body are cut to it. Engine contract A11.
 */
export function redact(body: Uint8Array, findings: readonly { offset?: number; length?: number }[]): Uint8Array {
  const ranges = findings
    .map(({ offset = 0, length = 0 }) => ({ start: Math.max(offset, 0), end: Math.min(offset + length, body.length) }))
    .filter(({ start, end }) => end > start)
    .sort((a, b) => a.start - b.start);
  const parts: Uint8Array[] = [];
  let kept = 0;
  for (const { start, end } of ranges) {
    if (start > kept || parts.length === 0) parts.push(body.subarray(kept, start), mark);
    kept = Math.max(kept, end);
  }
  return Buffer.concat([...parts, body.subarray(kept)]);
}

/** A text without the secrets in it, for logs and for notes that people write. */
export function redactText(text: string): string {
  const body = Buffer.from(text);
  const { findings } = scan(body, { scanners: ['secret'] }, builtInScanners, { maxBytes: body.length });
  return findings.length === 0 ? text : Buffer.from(redact(body, findings)).toString();
}
