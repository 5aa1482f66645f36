import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The wall clock of one service process, set by the harness. */
export class ServiceClock {
  constructor(private readonly file: string) {
    this.set(0);
  }

  /** Environment of the process. All other processes of the harness have the true time. */
  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--require ${join(__dirname, 'shifted-clock.cjs')}`, SVC_CHAOS_CLOCK: this.file };
  }

  /** Shifts the clock of the service, also after restarts. The clock of the harness is unchanged. */
  set(aheadMs: number): void {
    const whole = `${this.file}.next`;
    writeFileSync(whole, String(aheadMs));
    renameSync(whole, this.file);
  }
}
