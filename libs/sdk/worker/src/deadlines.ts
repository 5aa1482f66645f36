/** Maximum timer delay; a later deadline is ignored. */
export const longestTimerMs = 2 ** 31 - 1;

export interface Deadline {
  readonly atMs: number;
  readonly expire: () => void;
}

/** Deadlines of the running jobs, with one timer for the earliest. Times are those of `performance.now()`. */
export class Deadlines {
  private readonly pending = new Set<Deadline>();
  private timer: NodeJS.Timeout | undefined;
  private timerAtMs = Infinity;

  /** @param expire called once after the delay, unless the deadline is removed */
  add(delayMs: number, expire: () => void): Deadline {
    const deadline = { atMs: performance.now() + delayMs, expire };
    this.pending.add(deadline);
    if (deadline.atMs < this.timerAtMs) this.schedule(deadline.atMs);
    return deadline;
  }

  /** Leaves the timer: it is set again only when it fires, not for each job. */
  remove(deadline: Deadline): void {
    this.pending.delete(deadline);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timerAtMs = Infinity;
    this.pending.clear();
  }

  private schedule(atMs: number): void {
    clearTimeout(this.timer);
    this.timerAtMs = atMs;
    this.timer = setTimeout(() => this.sweep(), Math.max(0, Math.ceil(atMs - performance.now())));
  }

  private sweep(): void {
    const nowMs = performance.now();
    this.timerAtMs = Infinity;
    let earliestMs = Infinity;
    for (const deadline of this.pending) {
      if (deadline.atMs > nowMs) {
        earliestMs = Math.min(earliestMs, deadline.atMs);
        continue;
      }
      this.pending.delete(deadline);
      deadline.expire();
    }
    // A deadline added by one of these expiries has already set the timer.
    if (earliestMs < this.timerAtMs) this.schedule(earliestMs);
  }
}
