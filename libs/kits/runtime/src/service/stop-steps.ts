import type { Logger } from '../logger';
import { withTimeout } from '../with-timeout';

interface Step {
  name: string;
  run: () => unknown;
}

/** Steps that run when a process stops, last registered first. */
export class StopSteps {
  private readonly steps: Step[] = [];

  constructor(
    private readonly log: Logger,
    private readonly limitMs: number,
  ) {}

  add(name: string, run: () => unknown): void {
    this.steps.push({ name, run });
  }

  /** Runs each step once. A step that fails or times out is logged, and the next one runs. */
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
