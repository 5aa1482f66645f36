import { retryBytes, windowBytes, type Budget } from './budget';
import { getContext } from './checks-context';
import { hasContext } from './context';
import type { Report } from './finding';
import type { FastPattern, ScannerSet } from './scanner-set';

/** Fixed cost of a try, in bytes of plain scanning. */
const tryCost = 64;
const isWordByte = Uint8Array.from({ length: 256 }, (_, byte) => Number(/\w/.test(String.fromCharCode(byte))));

interface Candidate {
  pattern: FastPattern;
  /** End of the last match: the next one cannot start earlier. */
  done: number;
}

/** Runs built-in patterns: one pass over the bytes finds their needles, and patterns are tried only there. */
export class FastScan {
  private readonly candidates: (Candidate | undefined)[];
  private stopped = false;

  constructor(
    private readonly set: ScannerSet,
    wanted: (pattern: FastPattern) => boolean,
    private readonly body: Uint8Array,
    /** The body with one character per byte. */
    private readonly text: string,
    private readonly report: Report,
    private readonly budget: Budget,
  ) {
    this.candidates = set.fast.map((pattern) => (wanted(pattern) ? { pattern, done: 0 } : undefined));
  }

  run(): void {
    if (!this.candidates.some((candidate) => candidate !== undefined)) return;
    const { body } = this;
    let state = 0;
    for (let from = 0; from < body.length && !this.stopped; from += windowBytes) {
      const to = Math.min(from + windowBytes, body.length);
      state = this.pass(from, to, state);
      if (!this.budget.spend(to - from)) return;
    }
  }

  /** @returns the state of the needle search, for the next part */
  private pass(from: number, to: number, begin: number): number {
    const { classes, next, firstEnding, ending, width } = this.set.needles;
    const { body } = this;
    let state = begin;
    for (let i = from; i < to; i++) {
      // Both tables cover every index, which the compiler cannot infer.
      state = next[state + (classes[body[i] as number] as number)] as number;
      if (state < firstEnding) continue;
      for (const { owner, length } of ending[(state - firstEnding) / width] ?? []) {
        const candidate = this.candidates[owner];
        if (candidate && !this.stopped) this.tryAt(candidate, i + 1 - length);
      }
    }
    return state;
  }

  private tryAt(candidate: Candidate, needleAt: number): void {
    const { regex, begin, atWordStart, hasValue, label } = candidate.pattern;
    if (needleAt < candidate.done) return;
    const from = begin ? Math.max(begin(this.body, needleAt), candidate.done) : needleAt;
    if (atWordStart && from > 0 && isWordByte[this.body[from - 1] ?? 0] === 1) return;
    regex.lastIndex = from;
    const match = regex.exec(this.text);
    if (!this.budget.spend(tryCost + (match?.[0].length ?? 0))) this.stopped = true;
    if (!match || this.stopped) return;
    const end = match.index + match[0].length;
    const found = (hasValue && match.groups?.['value']) || match[0];
    // The value of a built-in pattern cannot occur again in the text that follows it.
    const start = match.index + match[0].lastIndexOf(found);
    if (!this.counts(candidate.pattern, found, start)) {
      // A valid match may start within a rejected one: anywhere in a short one, else near its end.
      candidate.done = Math.max(candidate.done, end - retryBytes);
      return;
    }
    candidate.done = end;
    this.stopped = !this.report(label, start, found.length);
  }

  private counts({ check, context }: FastPattern, found: string, start: number): boolean {
    const end = start + found.length;
    if (check && !check(found, getContext(this.text, start, end))) return false;
    return !context || hasContext(context, this.text, start, end);
  }
}
