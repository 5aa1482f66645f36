/** Slots for concurrent jobs. */
export class Slots {
  private taken = 0;
  private readonly line: (() => void)[] = [];
  private readonly idle: (() => void)[] = [];
  private isClosed = false;

  constructor(private readonly size: number) {}

  get inUse(): number {
    return this.taken;
  }

  get room(): number {
    return Math.max(0, this.size - this.taken);
  }

  tryTake(): boolean {
    if (this.isClosed || this.taken >= this.size) return false;
    this.taken += 1;
    return true;
  }

  free(): void {
    this.taken -= 1;
    this.wake();
    if (this.taken === 0) for (const resume of this.idle.splice(0)) resume();
  }

  /** Resolves when no slot is taken. */
  async whenIdle(): Promise<void> {
    if (this.taken > 0) await new Promise<void>((resume) => this.idle.push(resume));
  }

  /** Resolves when a slot is free, which another caller may take first, or when the slots are closed. */
  async whenFree(): Promise<void> {
    while (!this.isClosed && this.taken >= this.size) await new Promise<void>((resume) => this.line.push(resume));
  }

  /** @returns whether a slot was acquired; false when closed */
  async take(): Promise<boolean> {
    for (;;) {
      await this.whenFree();
      if (this.isClosed) return false;
      if (this.tryTake()) return true;
    }
  }

  /** Grants no more slots, and releases all waiters. */
  close(): void {
    this.isClosed = true;
    this.wake();
  }

  private wake(): void {
    if (this.line.length === 0) return;
    for (const resume of this.line.splice(0)) resume();
  }
}
