/** A counting semaphore with a FIFO queue. */
export class Slots {
  private taken = 0;
  private readonly line: (() => void)[] = [];
  private readonly idle: (() => void)[] = [];

  constructor(private readonly size: number) {}

  get inUse(): number {
    return this.taken;
  }

  async take(): Promise<void> {
    if (this.taken < this.size) {
      this.taken += 1;
      return;
    }
    await new Promise<void>((resume) => this.line.push(resume));
  }

  /** Passes the slot to the next waiter. */
  free(): void {
    const next = this.line.shift();
    if (next) return next();
    this.taken -= 1;
    if (this.taken === 0) for (const resume of this.idle.splice(0)) resume();
  }

  /** Resolves when all slots are free. */
  async whenIdle(): Promise<void> {
    if (this.taken > 0) await new Promise<void>((resume) => this.idle.push(resume));
  }
}
