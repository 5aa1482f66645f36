export const windowBytes = 64 * 1024;
/** Length of the part of a rejected match that is tried again, since another match may start within it. */
export const retryBytes = 64;

/** Checks the deadline once per window of work. */
export class Budget {
  /** The deadline passed before the work was done. */
  overrun = false;
  private left = windowBytes;

  constructor(private readonly expired: () => boolean) {}

  /** Counts work; returns false when the scan must stop. */
  spend(bytes: number): boolean {
    if (this.overrun) return false;
    this.left -= bytes;
    if (this.left > 0) return true;
    this.left = windowBytes;
    this.overrun = this.expired();
    return !this.overrun;
  }
}
