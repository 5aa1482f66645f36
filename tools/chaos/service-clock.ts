import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The wall clock of one service process, as the harness sets it. */
export class ServiceClock {
  constructor(private readonly file: string) {
    this.set(0);
  }

  /** What the process needs for it. Whatever else the harness looks at has the true time. */
  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--require ${join(__dirname, 'shifted-clock.cjs')}`, SVC_CHAOS_CLOCK: this.file };
  }

  /** From now on, and after a restart too, the service believes that it is so much later. The harness' own clock stays. */
  set(aheadMs: number): void {
    const whole = `${this.file}.next`;
    writeFileSync(whole, String(aheadMs));
    renameSync(whole, this.file);
  }
}
