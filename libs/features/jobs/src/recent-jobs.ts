import type { JobRecord } from '@svc/store';

const MAX_JOBS = 4_096;
/** Jobs are kept only while clients wait for ends, since otherwise they would cost memory for nothing. */
const KEPT_AFTER_WAIT_MS = 60_000;
/** Larger inputs are read from Redis at the end of the job. */
const MAX_INPUT_CHARS = 16_384;

/** A job submitted to this process that has not ended, as far as announced. */
export interface RecentJob {
  /** As accepted: later changes are not in it. */
  record: JobRecord;
  /** The input document, JSON; undefined for a large one. */
  input?: string;
}

/**
 * The newest jobs that this process has accepted, so that a client that waits for the end of its job needs no read from
 * Redis: what changes until then is announced with the end.
 */
export class RecentJobs {
  private readonly jobs = new Map<string, RecentJob>();
  private lastWaitMs = -Infinity;

  constructor(private readonly clock: { nowMs(): number }) {}

  /** Call this before the accepting call, since the end may be announced before its reply is processed. */
  expect(record: JobRecord, input: string): void {
    if (this.clock.nowMs() - this.lastWaitMs > KEPT_AFTER_WAIT_MS) return;
    this.jobs.set(record.id, { record, ...(input.length <= MAX_INPUT_CHARS && { input }) });
    if (this.jobs.size <= MAX_JOBS) return;
    const [oldest] = this.jobs.keys();
    if (oldest !== undefined) this.jobs.delete(oldest);
  }

  /** The job was accepted. @param createdAt as stored, µs */
  confirm(id: string, createdAt: number): void {
    const job = this.jobs.get(id);
    if (job) this.jobs.set(id, { ...job, record: { ...job.record, created_at: createdAt } });
  }

  /** Called for a job that a client waits for. */
  find(id: string): RecentJob | undefined {
    this.lastWaitMs = this.clock.nowMs();
    return this.jobs.get(id);
  }

  /** The job has ended, or was not accepted. */
  forget(id: string): void {
    this.jobs.delete(id);
  }

  /** Ends may have been missed. */
  clear(): void {
    this.jobs.clear();
  }
}
