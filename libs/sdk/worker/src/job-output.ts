import type { LogLevel } from './types';

/** What a job wrote since the last report. */
export interface OutputReport {
  logs: { level: LogLevel; message: string; at_ms: number }[];
  output: string;
  /** Characters of partial output before this part. */
  output_offset: number;
}

const FLUSH_MS = 50;
const MAX_LINES = 100;
const MAX_LINE_CHARS = 2_000;
const MAX_OUTPUT_CHARS = 16_384;
/** A word is sent in one piece, so that the platform recognizes a secret in it, unless it is longer or incomplete for longer. */
const MAX_WORD_CHARS = 512;
const MAX_WORD_MS = 500;

/** Collects log lines and partial output of a job, and sends them every 50 ms. */
export class JobOutput {
  private lines: OutputReport['logs'] = [];
  private text = '';
  private sentChars = 0;
  private timer: NodeJS.Timeout | undefined;
  private wordSinceMs = 0;

  constructor(private readonly send: (report: OutputReport) => void) {}

  log(message: string, level: LogLevel): void {
    this.lines.push({ level, message: message.slice(0, MAX_LINE_CHARS), at_ms: Date.now() });
    if (this.lines.length >= MAX_LINES) this.flushComplete();
    else this.schedule();
  }

  write(text: string): void {
    if (this.text === '') this.wordSinceMs = performance.now();
    this.text += text;
    if (this.text.length >= MAX_OUTPUT_CHARS) this.flushComplete();
    else this.schedule();
  }

  /** Sends everything; at the end of the job. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sendUntil(this.text.length);
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => this.flushComplete(), FLUSH_MS);
  }

  /** Sends all but an incomplete last word. */
  private flushComplete(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const wordAt = lastSpace(this.text) + 1;
    const isOverdue = performance.now() - this.wordSinceMs >= MAX_WORD_MS;
    const isLong = this.text.length - wordAt > MAX_WORD_CHARS;
    this.sendUntil(isOverdue || isLong ? this.text.length : wordAt);
    if (this.text !== '') this.schedule();
  }

  private sendUntil(end: number): void {
    let from = 0;
    while (from < end || this.lines.length > 0) {
      const output = this.text.slice(from, cutAt(this.text, Math.min(end, from + MAX_OUTPUT_CHARS)));
      this.send({ logs: this.lines.splice(0, MAX_LINES), output, output_offset: this.sentChars });
      from += output.length;
      this.sentChars += output.length;
    }
    if (from > 0) this.wordSinceMs = performance.now();
    this.text = this.text.slice(from);
  }
}

/** The position, or the one before if it is within a surrogate pair, of which each half would be lost. */
function cutAt(text: string, position: number): number {
  return position < text.length && /[\ud800-\udbff]/.test(text.charAt(position - 1)) ? position - 1 : position;
}

function lastSpace(text: string): number {
  for (let i = text.length - 1; i >= 0; i--) if (/\s/.test(text.charAt(i))) return i;
  return -1;
}
