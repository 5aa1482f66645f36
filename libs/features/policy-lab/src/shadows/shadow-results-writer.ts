import type { ShadowResult, Store } from '@svc/store';
import type { Dropped } from './shadow-lane';

export interface ResultsWriterEvents {
  dropped(reason: Dropped, count: number): void;
  /** The results are kept and written later. */
  failed(error: unknown): void;
}

interface Written {
  tenant: string;
  result: ShadowResult;
}

const soonMs = 100;
const againMs = 1_000;
const MAX_BATCH = 200;
/** Bound while the store is unavailable. */
const MAX_KEPT = 5_000;

/** Writes results in batches of one round trip each, and keeps those that could not be written. */
export class ShadowResultsWriter {
  private readonly waiting: Written[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private isClosed = false;

  constructor(
    private readonly store: Pick<Store, 'shadowResults'>,
    private readonly events: ResultsWriterEvents,
  ) {}

  add(tenant: string, result: ShadowResult): void {
    if (this.waiting.length >= MAX_KEPT) return this.events.dropped('queue_full', 1);
    this.waiting.push({ tenant, result });
    this.schedule(soonMs);
  }

  /** Writes pending results, as far as the time allows. */
  async close(withinMs: number): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    let late: NodeJS.Timeout | undefined;
    const timeOver = new Promise<void>((resolve) => (late = setTimeout(resolve, withinMs)));
    await Promise.race([this.writeAll(), timeOver]);
    clearTimeout(late);
    if (this.waiting.length > 0) this.events.dropped('closed', this.waiting.splice(0).length);
  }

  private schedule(ms: number): void {
    if (this.timer || this.writing || this.isClosed) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.writeAll();
    }, ms);
    this.timer.unref();
  }

  private writeAll(): Promise<void> {
    this.writing ??= this.drain().finally(() => {
      this.writing = undefined;
      if (this.waiting.length > 0) this.schedule(againMs);
    });
    return this.writing;
  }

  /** Results of a tenant keep their order; written ones leave the list, so a failure repeats only the rest. */
  private async drain(): Promise<void> {
    for (let [first] = this.waiting; first; [first] = this.waiting) {
      const { tenant } = first;
      const batch = this.waiting.filter((one) => one.tenant === tenant).slice(0, MAX_BATCH);
      try {
        await this.store.shadowResults.add(tenant, batch.map(({ result }) => result)); // prettier-ignore
      } catch (error) {
        return this.events.failed(error);
      }
      const done = new Set(batch);
      this.waiting.splice(0, this.waiting.length, ...this.waiting.filter((one) => !done.has(one)));
    }
  }
}
