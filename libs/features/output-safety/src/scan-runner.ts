import type { JobRecord } from '@svc/store';
import type { ResultFacts } from './output-facts';
import { scanEntry, scanJob } from './scan-output';
import type { OutputSafetyDeps } from './output-safety-deps';

const atOnce = 8;
const mostWaiting = 1_000;

/**
 * Scans what this process has just written as a success, without asking the queue for it again. The queue entry of the scan
 * is the net: should this process die, or have too much to do, somebody takes the scan from there some seconds later.
 */
export class ScanRunner {
  private readonly waiting: { job: JobRecord; result: ResultFacts }[] = [];
  private running = 0;

  constructor(private readonly deps: OutputSafetyDeps) {}

  /** @param job as it is now, after its success was written */
  soon(job: JobRecord, result: ResultFacts): void {
    if (this.waiting.length >= mostWaiting) return;
    this.waiting.push({ job, result });
    this.next();
  }

  private next(): void {
    const scan = this.running < atOnce ? this.waiting.shift() : undefined;
    if (!scan) return;
    this.running++;
    scanJob(this.deps, scan.job, scan.result, scanEntry(scan.job))
      .catch((error: unknown) => this.deps.events.scanLeft(scan.job.id, error))
      .finally(() => {
        this.running--;
        this.next();
      });
  }
}
