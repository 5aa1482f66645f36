import type { ScanContent } from '@svc/policy';
import { scan } from '@svc/scanning';
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

const inlineBytes = 16 * 1_024;
const inlineMs = 50;
const maxWaiting = 256;

/** Scans inputs and outputs with the scanners in force. Every pattern takes time that grows only with the text. */
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

  /** The scan of one request's input, with 50 ms for all of it. Policy contract 3.6. */
  forInput(): ScanContent {
    let untilMs: number | undefined;
    return (content, needs) => {
      const limitMs = (untilMs ??= this.nowMs() + inlineMs);
      const expired = () => this.nowMs() > limitMs;
      const { findings, overrun } = scan(content, needs, this.scanners.set, { maxBytes: content.length, expired });
      return overrun ? 'overrun' : findings;
    };
  }

  /** Small outputs are scanned at once, since handing them to a thread takes longer; the others on a thread. */
  async ofOutput(question: ScanQuestion): Promise<ScanAnswer> {
    const bytes = question.texts.reduce((sum, text) => sum + text.length, 0);
    if (bytes < inlineBytes) {
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
}
