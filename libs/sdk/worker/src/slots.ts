/** Places for jobs. */
export class Slots {
  private taken = 0;
  private readonly line: (() => void)[] = [];
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
  }

  /** Resolves when a place is free, though another may be quicker to take it, or when there will be no more. */
  async whenFree(): Promise<void> {
    while (!this.isClosed && this.taken >= this.size) await new Promise<void>((resume) => this.line.push(resume));
  }

  /** @returns whether a place was taken; not when the places are closed */
  async take(): Promise<boolean> {
    for (;;) {
      await this.whenFree();
      if (this.isClosed) return false;
      if (this.tryTake()) return true;
    }
  }

  /** No place is given any more, and nobody waits for one. */
  close(): void {
    this.isClosed = true;
    this.wake();
  }

  private wake(): void {
    for (const resume of this.line.splice(0)) resume();
  }
}
