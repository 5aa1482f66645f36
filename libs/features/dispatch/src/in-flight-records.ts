import type { JobRecord } from '@svc/store';

/** More than one scheduler usually has in flight; beyond it, the oldest records are dropped. */
const MAX_RECORDS = 8_192;

/**
 * Records of the jobs that this process dispatched, as of their dispatch, so that handling a result needs no read from
 * Redis. They may be stale: every write based on them is validated in Redis.
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
