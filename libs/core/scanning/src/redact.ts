import { scan } from './scan';
import { builtInScanners } from './scanner-set';

const mark = Buffer.from('[REDACTED]');

/** A range of a body, in bytes. */
interface Span {
  offset?: number;
  length?: number;
}
interface Range {
  start: number;
  end: number;
}

/**
 * A copy of a body with every finding's range replaced by `[REDACTED]`; ranges that overlap or touch become one. Ranges
 * outside the body are cut to it. See docs/reference/policy.md#output-policy.
 */
export function redact(body: Uint8Array, findings: readonly Span[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let kept = 0;
  for (const { start, end } of mergedRanges(body, findings)) {
    parts.push(body.subarray(kept, start), mark);
    kept = end;
  }
  return Buffer.concat([...parts, body.subarray(kept)]);
}

/**
 * Maps findings in a redacted copy to offset and length in the original body. A finding that starts or ends within a
 * `[REDACTED]` covers the whole replaced range.
 *
 * @param replaced the findings that were redacted
 */
export function inOriginal<F extends Span>(body: Uint8Array, replaced: readonly Span[], findings: readonly F[]): F[] {
  const ranges = mergedRanges(body, replaced);
  return findings.map((finding) => {
    const { offset, length = 0 } = finding;
    if (offset === undefined) return finding;
    const start = positionInOriginal(ranges, offset, 'start');
    return { ...finding, offset: start, length: positionInOriginal(ranges, offset + length, 'end') - start };
  });
}

function mergedRanges(body: Uint8Array, findings: readonly Span[]): Range[] {
  const ranges = findings
    .map(({ offset = 0, length = 0 }) => ({ start: Math.max(offset, 0), end: Math.min(offset + length, body.length) }))
    .filter(({ start, end }) => end > start)
    .sort((a, b) => a.start - b.start);
  const merged: Range[] = [];
  for (const range of ranges) {
    const last = merged.at(-1);
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else merged.push(range);
  }
  return merged;
}

/** @param edge a start belongs to the text after it, an end to the text before it */
function positionInOriginal(ranges: readonly Range[], position: number, edge: keyof Range): number {
  const isBefore = (limit: number) => (edge === 'start' ? position < limit : position <= limit);
  let shift = 0;
  for (const { start, end } of ranges) {
    const markStart = start - shift;
    if (isBefore(markStart)) break;
    const markEnd = markStart + mark.length;
    if (isBefore(markEnd)) return edge === 'start' ? start : end;
    shift = end - markEnd;
  }
  return position + shift;
}

/** Removes secrets from a text, for logs and for notes that people write. */
export function redactText(text: string): string {
  const body = Buffer.from(text);
  const { findings } = scan(body, { scanners: ['secret'] }, builtInScanners, { maxBytes: body.length });
  return findings.length === 0 ? text : Buffer.from(redact(body, findings)).toString();
}
