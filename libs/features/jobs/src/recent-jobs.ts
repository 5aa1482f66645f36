import type { JobEnding, JobRecord } from '@svc/store';

const MAX_JOBS = 4_096;
/** A client sends its wait right after it has received the response to its submission. */
const ENDED_KEPT_MS = 2_000;
/** Jobs are kept only while clients wait for ends, since otherwise they would cost memory for nothing. */
const KEPT_AFTER_WAIT_MS = 60_000;
/** Larger inputs are read from Redis at the end of the job. */
const MAX_INPUT_CHARS = 16_384;

/** A job submitted to this process. */
export interface RecentJob {
  /** As accepted: later changes are not in it. */
  record: JobRecord;
  /** The input document, JSON; undefined for a large one. */
  input?: string;
  /** Present once it has ended. */
  ending?: JobEnding;
}

interface KnownJob extends Omit<RecentJob, 'ending'> {
  ended?: { atMs: number; read: () => JobEnding | undefined };
}

/** Only a success with a released result is known not to change: its body was scanned, and no transition leads from there. */
const isFinal = (ending: JobEnding | undefined): ending is JobEnding => ending?.body !== undefined;

/**
 * The newest jobs that this process has accepted, so that a client that waits for the end of its job needs no read from
 * Redis: what changes until then is announced with the end.
 */
export class RecentJobs {
  private readonly jobs = new Map<string, KnownJob>();
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

  /** Called for a job that a client waits for. Undefined for a job that must be read from Redis. */
  find(id: string): RecentJob | undefined {
    const nowMs = this.clock.nowMs();
    this.lastWaitMs = nowMs;
    const job = this.jobs.get(id);
    if (!job) return undefined;
    const { ended, ...recent } = job;
    if (!ended) return recent;
    const ending = nowMs - ended.atMs <= ENDED_KEPT_MS ? ended.read() : undefined;
    return isFinal(ending) ? { ...recent, ending } : undefined;
  }

  /** The end of a job was announced. A client may begin to wait just after. */
  end(id: string, read: () => JobEnding | undefined): void {
    const job = this.jobs.get(id);
    if (job) this.jobs.set(id, { ...job, ended: { atMs: this.clock.nowMs(), read } });
  }

  /** The job was not accepted. */
  forget(id: string): void {
    this.jobs.delete(id);
  }

  /** Ends may have been missed. */
  clear(): void {
    this.jobs.clear();
  }
}
