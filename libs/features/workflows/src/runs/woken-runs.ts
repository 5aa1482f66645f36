import type { RunWake } from '@svc/store';
import type { RunDeps } from './run-deps';
import { runPass } from './run-pass';
import { takeTurn } from './take-turn';

const MAX_CONCURRENT = 32;
/** The queue entries of further runs are due before their turn comes. */
const MAX_WAITING = 1_024;

/**
 * Takes the turns of runs that this engine is notified of, oldest first. Each run also has a queue entry, which is processed
 * when this engine does not take it: nothing is lost with a notification.
 */
export class WokenRuns {
  private readonly waiting: RunWake[] = [];
  private readonly running = new Set<Promise<void>>();
  /** Runs of which a turn is under way, with the newest notification since: the next turn finds the result in memory. */
  private readonly taking = new Map<string, RunWake | undefined>();
  private isClosed = false;

  /** @param onError the run is taken by its queue entry */
  constructor(
    private readonly deps: RunDeps,
    private readonly onError: (runId: string, error: unknown) => void,
  ) {}

  add(wake: RunWake): void {
    if (this.isClosed || this.waiting.length >= MAX_WAITING) return;
    this.waiting.push(wake);
    this.startNext();
  }

  /** Takes no more runs. Resolves when the turns under way have ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.running);
  }

  private startNext(): void {
    if (this.isClosed || this.running.size >= MAX_CONCURRENT) return;
    const wake = this.waiting.shift();
    if (!wake) return;
    if (this.taking.has(wake.id)) {
      this.taking.set(wake.id, wake);
      return this.startNext();
    }
    this.taking.set(wake.id, undefined);
    const turn: Promise<void> = this.take(wake)
      .catch((error: unknown) => this.onError(wake.id, error))
      .finally(() => {
        this.running.delete(turn);
        const next = this.taking.get(wake.id);
        this.taking.delete(wake.id);
        if (next) this.waiting.push(next);
        this.startNext();
      });
    this.running.add(turn);
  }

  private async take(wake: RunWake): Promise<void> {
    // A pass that must be repeated is repeated by the queue entry.
    if (!(await takeTurn(this.deps, wake))) await runPass(this.deps, wake.id);
  }
}
