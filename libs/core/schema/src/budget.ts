/** Thrown when a check exceeds its budget. */
export class BudgetExceeded extends Error {}

/** Remaining steps of the current check. Checks are synchronous, so they can share one counter. */
export class Budget {
  private left = 0;

  refill(steps: number): void {
    this.left = steps;
  }

  /** @throws BudgetExceeded */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new BudgetExceeded();
  }
}
