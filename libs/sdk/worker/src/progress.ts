export interface ProgressReport {
  percent: number;
  message: string;
}

const everyMs = 1_000;

/** Sends at most one report per second, and always the last one. */
export class ProgressReports {
  private timer: NodeJS.Timeout | undefined;
  private waiting: ProgressReport | undefined;
  private lastAtMs = -Infinity;

  constructor(private readonly send: (report: ProgressReport) => void) {}

  report(percent: number, message = ''): void {
    this.waiting = { percent: Math.round(Math.min(100, Math.max(0, percent))) || 0, message };
    const waitMs = this.lastAtMs + everyMs - performance.now();
    if (waitMs <= 0) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), waitMs);
  }

  /** Sends the pending report; also at the end of the job. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.waiting) return;
    this.send(this.waiting);
    this.waiting = undefined;
    this.lastAtMs = performance.now();
  }
}
