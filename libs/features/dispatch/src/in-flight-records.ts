import type { JobRecord } from '@svc/store';

/** More than workers of one scheduler usually hold at once; of a longer list the newest are kept. */
const MAX_RECORDS = 8_192;

/**
 * Records of the jobs that this process gave to workers, as of then, so that their answers need not ask Redis for
 * them. What is read here is never the base of a decision that Redis does not check again.
 */
export class InFlightRecords {
  private readonly records = new Map<string, JobRecord>();

  remember(job: JobRecord): void {
    this.records.delete(job.id);
    this.records.set(job.id, job);
    if (this.records.size <= MAX_RECORDS) return;
    const [oldest] = this.records.keys();
    if (oldest !== undefined) this.records.delete(oldest);
  }

  find(id: string): JobRecord | undefined {
    return this.records.get(id);
  }

  forget(id: string): void {
    this.records.delete(id);
  }
}
