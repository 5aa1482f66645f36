import type { RE2JS } from 're2js';
import { retryBytes, windowBytes, type Budget } from './budget';
import type { Check } from './checks';
import { getContext } from './checks-context';
import { hasContext } from './context';
import type { Label, Report } from './finding';
import type { ScannerSet, SlowPattern } from './scanner-set';

/** A match of up to this many bytes lies whole in some window. */
export const overlapBytes = 8 * 1024;
/** Context before a window, so that word boundaries at its edge are detected correctly. */
const contextBytes = 4;
/** Cost of a match, in bytes of plain scanning. */
const matchCost = 512;

export interface SlowJob {
  label: Label;
  regex: RE2JS;
  hasValue?: boolean;
  context?: RegExp | undefined;
  check?: Check | undefined;
}

export interface SlowJobs {
  ofSet: readonly SlowPattern[];
  ofRequest: readonly SlowJob[];
}

/**
 * Runs patterns of files and policies over the bytes, window by window, in an engine that is linear for any pattern. A first
 * pass determines which patterns match in a window at all, which is several times as fast as locating the matches.
 *
 * @param text the body with one character per byte
 */
export function scanSlow(
  body: Uint8Array,
  text: string,
  { ofSet, ofRequest }: SlowJobs,
  { sieve, slow }: ScannerSet,
  report: Report,
  budget: Budget,
): void {
  const isSieved = sieve !== undefined && ofSet.length > 0;
  const unsieved: SlowJob[] = isSieved ? [...ofRequest] : [...ofSet, ...ofRequest];
  if (!isSieved && unsieved.length === 0) return;
  const source = new Source(body, text);
  const wanted = new Set<SlowJob>(ofSet);
  const done = new Map<SlowJob, number>();
  for (let window: Window | undefined = source.window(0); window; window = source.after(window)) {
    const input = source.slice(window.begin, window.end);
    const sieved = isSieved ? sieve.match(input).map((index): SlowJob | undefined => slow[index]) : [];
    const likely = [
      ...sieved.filter((job) => job !== undefined && wanted.has(job)),
      ...unsieved.filter(({ regex }) => regex.test(input)),
    ];
    if (!budget.spend((window.end - window.begin) * (unsieved.length + Number(isSieved)))) return;
    for (const job of likely) {
      if (!job) continue;
      const end = findAll(job, source, { ...window, from: Math.max(window.from, done.get(job) ?? 0) }, report, budget);
      if (end === undefined) return;
      done.set(job, end);
    }
  }
}

/** Positions are bytes of the body. */
interface Window {
  /** The input of the engine. */
  begin: number;
  end: number;
  /** Range in which matches may start; the end is exclusive. */
  from: number;
  limit: number;
  isLast: boolean;
}

/** @returns where the next match may start, undefined to stop */
function findAll(job: SlowJob, source: Source, window: Window, report: Report, budget: Budget): number | undefined {
  let at = window.from;
  for (;;) {
    const match = source.find(job, window, at);
    if (!match || match.from >= window.limit) return at;
    if (!budget.spend(matchCost)) return undefined;
    if (source.counts(job, match)) {
      if (!report(job.label, match.start, match.end - match.start)) return undefined;
      at = match.to;
    } else {
      at = source.nextCharacter(Math.max(match.from, match.to - retryBytes));
    }
  }
}

interface Match {
  from: number;
  to: number;
  /** The reported part: the group `value`, else the whole match. */
  start: number;
  end: number;
}

class Source {
  private shown: { begin: number; end: number; input: string | Uint8Array } = { begin: 0, end: 0, input: '' };

  constructor(
    private readonly body: Uint8Array,
    private readonly text: string,
  ) {}

  window(from: number): Window {
    const end = Math.min(from + windowBytes, this.body.length);
    const isLast = end === this.body.length;
    const limit = isLast ? end : this.characterAt(end - overlapBytes);
    return { begin: this.characterAt(Math.max(from - contextBytes, 0)), end, from, limit, isLast };
  }

  after({ isLast, limit }: Window): Window | undefined {
    return isLast ? undefined : this.window(limit);
  }

  /** In plain ASCII characters equal bytes, and the engine is faster on text. */
  slice(begin: number, end: number): string | Uint8Array {
    if (this.shown.begin !== begin || this.shown.end !== end) {
      const text = this.text.slice(begin, end);
      this.shown = { begin, end, input: hasHighByte.test(text) ? this.body.subarray(begin, end) : text };
    }
    return this.shown.input;
  }

  /** The first match from `at` on. One that reaches the window's end is matched again with more text after it. */
  find(job: SlowJob, window: Window, at: number): Match | undefined {
    const { begin } = window;
    for (let { end } = window; ; end = Math.min(end + (end - begin), this.body.length)) {
      if (at > end) return undefined;
      const matcher = job.regex.matcher(this.slice(begin, end));
      if (!matcher.find(at - begin)) return undefined;
      const to = begin + matcher.end();
      if (to === end && end < this.body.length && begin + matcher.start() < window.limit) continue;
      const part = job.hasValue && matcher.start('value') >= 0 ? 'value' : 0;
      return { from: begin + matcher.start(), to, start: begin + matcher.start(part), end: begin + matcher.end(part) };
    }
  }

  counts({ check, context }: SlowJob, { start, end }: Match): boolean {
    if (end <= start) return false;
    if (check && !check(this.text.slice(start, end), getContext(this.text, start, end))) return false;
    return !context || hasContext(context, this.text, start, end);
  }

  nextCharacter(at: number): number {
    let next = at + 1;
    while (next < this.body.length && this.isWithin(next)) next++;
    return next;
  }

  /** Start of the UTF-8 character at or before this position. */
  private characterAt(at: number): number {
    let start = at;
    while (start > 0 && at - start < 3 && this.isWithin(start)) start--;
    return start;
  }

  private isWithin(at: number): boolean {
    return ((this.body[at] ?? 0) & 0xc0) === 0x80;
  }
}

const hasHighByte = /[\x80-\xff]/;
