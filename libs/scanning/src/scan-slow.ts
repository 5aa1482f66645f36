import type { RE2JS } from 're2js';
import { windowBytes, type Budget } from './budget';
import { hasContext } from './context';
import type { Label, Report } from './finding';
import type { ScannerSet, SlowPattern } from './scanner-set';

/** The longest match that is found wherever it stands. */
export const overlapBytes = 8 * 1024;
/** Shown to the engine before a window, so that word boundaries at its edge are judged rightly. */
const contextBytes = 4;

export interface SlowJob {
  label: Label;
  regex: RE2JS;
  hasValue?: boolean;
  context?: RegExp | undefined;
  check?: ((found: string) => boolean) | undefined;
}

/**
 * Runs patterns of files and policies over the bytes, window by window: their engine takes time in proportion to the
 * text whatever the pattern, and between windows the time is looked at. Windows overlap, so that a match of up to
 * `overlapBytes` is always whole in one of them.
 */
export function scanSlow(
  body: Uint8Array,
  text: string,
  { ofSet, ofRequest }: { ofSet: readonly SlowPattern[]; ofRequest: readonly SlowJob[] },
  { sieve, slow }: ScannerSet,
  report: Report,
  budget: Budget,
): void {
  const jobs = [...ofSet, ...ofRequest];
  if (jobs.length === 0) return;
  const isSieved = new Set<SlowJob>(sieve ? ofSet : []);
  const done = new Map<SlowJob, number>();
  const stride = windowBytes - overlapBytes;
  for (let start = 0; start < body.length || start === 0; start += stride) {
    const from = startOfCharacter(body, start);
    const to = Math.min(start + windowBytes, body.length);
    const isLast = to === body.length;
    const limit = isLast ? body.length + 1 : start + stride;
    const offset = startOfCharacter(body, Math.max(from - contextBytes, 0));
    const window = body.subarray(offset, to);
    const hits = new Set(
      isSieved.size > 0 ? sieve?.match(window).map((index): SlowJob | undefined => slow[index]) : [],
    );
    for (const job of jobs) {
      if (isSieved.has(job) && !hits.has(job)) continue;
      const end = scanWindow(job, { window, offset, from: Math.max(from, done.get(job) ?? 0), limit }, text, report);
      if (end === undefined) return;
      done.set(job, end);
      if (!budget.spend(window.length)) return;
    }
    if (isLast) return;
  }
}

interface Window {
  window: Uint8Array;
  /** Where the window stands in the body; `from` and `limit`, in the body too, enclose where matches may begin. */
  offset: number;
  from: number;
  limit: number;
}

/** @returns the end of the last match, undefined when nothing more is wanted */
function scanWindow(job: SlowJob, { window, offset, from, limit }: Window, text: string, report: Report) {
  const { regex, label, check, context, hasValue } = job;
  const matcher = regex.matcher(window);
  let last = from;
  let at = from - offset;
  while (at <= window.length && matcher.find(at)) {
    if (offset + matcher.start() >= limit) break;
    const start = offset + matcher.start(hasValue ? 'value' : 0);
    const end = offset + matcher.end(hasValue ? 'value' : 0);
    // Something that counts may begin within what does not, and an empty match would be found again for ever.
    at = matcher.start() + 1;
    if (end <= start) continue;
    if (check && !check(text.slice(start, end))) continue;
    if (context && !hasContext(context, text, start, end)) continue;
    if (!report(label, start, end - start)) return undefined;
    at = matcher.end();
    last = offset + at;
  }
  return last;
}

/** The nearest place at or before this one where a UTF-8 character begins. */
function startOfCharacter(body: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && at - start < 4 && ((body[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
