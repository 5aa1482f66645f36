/** Names and steps that an expression reads, collected during compilation. */
export class References {
  private readonly stepIds = new Set<string>();
  private readonly firstNames = new Set<string>();

  name(name: string): void {
    this.firstNames.add(name);
  }

  /** @param id undefined when it is computed, or when `steps` is used as a whole */
  step(id: string | undefined): void {
    this.stepIds.add(id ?? '*');
  }

  get names(): string[] {
    return [...this.firstNames];
  }

  get stepsRead(): string[] {
    return [...this.stepIds];
  }
}
