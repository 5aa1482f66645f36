import type { Clock } from '@svc/platform';
import type { LegalHoldRepository } from '@svc/store';

export interface HoldSweepDeps {
  holds: LegalHoldRepository;
  clock: Pick<Clock, 'nowMs'>;
  /** Called after records of held tenants lost their expiry, or records of released ones got it back. */
  onSwept(kind: 'freeze' | 'thaw', records: number): void;
}

const SCAN_COUNT = 1_000;
const THAW_COUNT = 500;
/** Bounds a run of the loop, so that it keeps its lease. */
const RUN_MS = 5_000;
/**
 * While a tenant is held, all keys are scanned again at this interval, for documents with an expiry that a worker wrote, or a
 * process that died before it kept them.
 */
const REPEAT_MS = 600_000;

interface Pass {
  cursor: string;
  /** The sweeps that it completes, as they were requested. */
  covers: ReadonlyMap<string, string>;
}

/**
 * Keeps the records of tenants under a legal hold that had an expiry when it began, and restores the expiries after the release.
 * One pass over the names of all keys serves every tenant. A process that dies leaves the sweep to the next one, which begins
 * again: both directions may be repeated. See docs/reference/audit.md#legal-holds.
 */
export class HoldSweep {
  private pass: Pass | undefined;
  private lastPassMs = 0;

  constructor(private readonly deps: HoldSweepDeps) {
    // A cursor is valid for the server that returned it.
    deps.holds.onDisconnected(() => (this.pass = undefined));
  }

  /** Continues what remains, for some seconds. */
  async run(): Promise<void> {
    const untilMs = this.deps.clock.nowMs() + RUN_MS;
    const { held, sweeps } = await this.deps.holds.follow();
    // First, because records that must be kept may expire.
    await this.freeze(held, new Map([...sweeps].filter(([, sweep]) => sweep !== 'thaw')), untilMs);
    for (const [tenant, sweep] of sweeps) if (sweep === 'thaw') await this.thaw(tenant, sweep, untilMs);
  }

  /** Another process sweeps. */
  forget(): void {
    this.pass = undefined;
  }

  private async freeze(held: number, wanted: ReadonlyMap<string, string>, untilMs: number): Promise<void> {
    const { holds, clock, onSwept } = this.deps;
    const isDue = wanted.size > 0 || (held > 0 && clock.nowMs() - this.lastPassMs >= REPEAT_MS);
    if (!this.pass && !isDue) return;
    this.pass ??= { cursor: '0', covers: wanted };
    const { pass } = this;
    while (clock.nowMs() < untilMs) {
      const { next, names } = await holds.scan(pass.cursor, SCAN_COUNT);
      const frozen = names.length > 0 ? await holds.freeze(names) : 0;
      if (frozen > 0) onSwept('freeze', frozen);
      // The connection was lost in between, and the cursor with it.
      if (this.pass !== pass) return;
      pass.cursor = next;
      if (next !== '0') continue;
      this.pass = undefined;
      this.lastPassMs = clock.nowMs();
      for (const [tenant, sweep] of pass.covers) await holds.endSweep(tenant, sweep);
      return;
    }
  }

  private async thaw(tenant: string, sweep: string, untilMs: number): Promise<void> {
    const { holds, clock, onSwept } = this.deps;
    while (clock.nowMs() < untilMs) {
      const thawed = await holds.thaw(tenant, THAW_COUNT);
      if (thawed === undefined) return;
      if (thawed > 0) onSwept('thaw', thawed);
      if (thawed < THAW_COUNT) return holds.endSweep(tenant, sweep);
    }
  }
}
