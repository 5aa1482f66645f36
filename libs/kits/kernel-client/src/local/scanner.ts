import type { ScanAnswer, ScanQuestion } from '../scan/scan-messages';
import { ScanPool } from '../scan/scan-pool';
import { scanTexts } from '../scan/scan-texts';
import type { Scanners } from '../scan/scanners';
import type { ThreadEntry } from '../thread-entry';

export interface ScannerSettings {
  threads: number;
  /** Limit of a scan on a thread. */
  limitMs: number;
}

/** The scan of one request's input. See docs/reference/policy.md#content-rules. */
const inputMs = 50;
const inlineBytes = 8 * 1_024;
const inlineMs = 10;
const maxWaiting = 256;

/** Scans inputs and outputs with the scanners in effect without blocking the process. */
export class Scanner {
  private pool: ScanPool | undefined;

  constructor(
    private readonly scanners: Scanners,
    private readonly settings: ScannerSettings,
    private readonly entry: ThreadEntry,
    private readonly nowMs: () => number,
  ) {}

  /** Whether it scans with the same scanners. */
  isOf({ text }: Scanners): boolean {
    return this.scanners.text === text;
  }

  /** @returns rejects after 50 ms of scanning */
  ofInput(question: ScanQuestion): Promise<ScanAnswer> {
    return this.ofOutput({ ...question, limitMs: inputMs });
  }

  /**
   * Small texts are scanned in place for built-in patterns, which is faster than a thread. Patterns of files and policies
   * always run on a thread, because one may take a second per window and only a thread can be terminated.
   */
  async ofOutput(question: ScanQuestion): Promise<ScanAnswer> {
    const bytes = question.texts.reduce((sum, text) => sum + text.length, 0);
    if (bytes < inlineBytes && this.isFast(question)) {
      const untilMs = this.nowMs() + inlineMs;
      const answer = scanTexts(question, this.scanners.set, () => this.nowMs() > untilMs);
      if (answer) return answer;
    }
    const { text } = this.scanners;
    this.pool ??= new ScanPool({ text }, { ...this.settings, maxWaiting }, this.entry);
    return this.pool.scan(question);
  }

  async close(): Promise<void> {
    await this.pool?.close();
  }

  private isFast({ needs }: ScanQuestion): boolean {
    return this.scanners.set.slow.length === 0 && needs.every(({ patterns, keywords }) => patterns.length + keywords.length === 0); // prettier-ignore
  }
}
