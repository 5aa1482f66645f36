import type { JobRecord } from '@svc/store';

/** More than workers of one scheduler usually hold at once; of a longer list the newest are kept. */
const mostKept = 8_192;

/**
 * Records of the jobs that this process gave to workers, as of then, so that their answers need not ask Redis for
 * them. What is read here is never the base of a decision that Redis does not check again.
 */
export class InFlightRecords {
  private readonly kept = new Map<string, JobRecord>();

  remember(job: JobRecord): void {
    this.kept.delete(job.id);
    this.kept.set(job.id, job);
    if (this.kept.size <= mostKept) return;
    const [oldest] = this.kept.keys();
    if (oldest !== undefined) this.kept.delete(oldest);
  }

  find(id: string): JobRecord | undefined {
    return this.kept.get(id);
  }

  forget(id: string): void {
    this.kept.delete(id);
  }
}
