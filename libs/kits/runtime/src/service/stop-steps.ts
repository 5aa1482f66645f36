import type { Logger } from '../logger';
import { withTimeout } from '../with-timeout';

interface Step {
  name: string;
  run: () => unknown;
}

/** What to undo when a process stops, last registered first. */
export class StopSteps {
  private readonly steps: Step[] = [];

  constructor(
    private readonly log: Logger,
    private readonly limitMs: number,
  ) {}

  add(name: string, run: () => unknown): void {
    this.steps.push({ name, run });
  }

  /** Runs each step once. One that fails or takes too long is logged, and the next runs all the same. */
  async run(): Promise<void> {
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      await this.runOne(step).catch((error: unknown) =>
        this.log.error('stop step failed', { step: step?.name, error }),
      );
    }
  }

  private async runOne({ name, run }: Step): Promise<void> {
    await withTimeout((async () => run())(), this.limitMs, () => new Error(`took longer than ${this.limitMs} ms`));
    this.log.debug('stop step done', { step: name });
  }
}
