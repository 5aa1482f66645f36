export const windowBytes = 64 * 1024;
/** How much of a match that did not count is tried again, for another one may begin within it. */
export const retryBytes = 64;

/** Asks whether the time is up once for every window's worth of work. */
export class Budget {
  /** The time was up before the work was done. */
  overrun = false;
  private left = windowBytes;

  constructor(private readonly expired: () => boolean) {}

  /** Counts work; answers false when it must stop. */
  spend(bytes: number): boolean {
    if (this.overrun) return false;
    this.left -= bytes;
    if (this.left > 0) return true;
    this.left = windowBytes;
    this.overrun = this.expired();
    return !this.overrun;
  }
}
