/** Thrown out of a check that costs more than it may. */
export class TooCostly extends Error {}

/** Steps that the check under way may still take. Checks are synchronous, so one counter serves them all in turn. */
export class Budget {
  private left = 0;

  refill(steps: number): void {
    this.left = steps;
  }

  /** @throws TooCostly */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new TooCostly();
  }
}
