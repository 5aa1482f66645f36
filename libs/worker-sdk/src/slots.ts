/** Places for jobs. */
export class Slots {
  private taken = 0;
  private line: (() => void)[] = [];

  constructor(private readonly size: number) {}

  get inUse(): number {
    return this.taken;
  }

  tryTake(): boolean {
    if (this.taken >= this.size) return false;
    this.taken += 1;
    return true;
  }

  free(): void {
    this.taken -= 1;
    for (const resume of this.line.splice(0)) resume();
  }

  /** Resolves when a place is free; another may be quicker to take it. */
  async whenFree(): Promise<void> {
    while (this.taken >= this.size) await new Promise<void>((resume) => this.line.push(resume));
  }

  async take(): Promise<void> {
    while (!this.tryTake()) await this.whenFree();
  }
}
