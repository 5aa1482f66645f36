import type { Heartbeat } from '@svc/contract';
import type { JobRecord } from '@svc/store';

/** Heartbeats list this many running jobs at most. */
const maxListed = 256;
/** Longer than the delivery of a dispatch, during which no heartbeat lists its job. */
const MIN_ABSENCE_MS = 2_000;

/**
 * Whether a heartbeat proves that its worker has no jobs beyond those it lists. A full worker may have received jobs that
 * wait for a free slot, a list may be truncated, and an empty list is proof only with a job count of 0.
 */
export function isComplete({ active_jobs: active, max_parallel_jobs: max, running_jobs: listed }: Heartbeat): boolean {
  if (max > 0 && active >= max) return false;
  return listed.length > 0 ? listed.length >= active && listed.length < maxListed : active === 0;
}

/** Jobs that the heartbeats of their worker omit, with the time of the first omission. */
export class AbsentJobs {
  private readonly sinceMs = new Map<string, ReadonlyMap<string, number>>();

  /**
   * Records the jobs that a heartbeat omits, and resets the absence of all others.
   *
   * @returns start of the absence, by job id, of the jobs absent for at least the minimum time
   */
  note(workerId: string, absent: readonly string[], nowMs: number): Map<string, number> {
    const before = this.sinceMs.get(workerId);
    const now = new Map(absent.map((id) => [id, before?.get(id) ?? nowMs]));
    if (now.size > 0) this.sinceMs.set(workerId, now);
    else this.sinceMs.delete(workerId);
    return new Map([...now].filter(([, sinceMs]) => nowMs - sinceMs >= MIN_ABSENCE_MS));
  }

  forget(workerId: string): void {
    this.sinceMs.delete(workerId);
  }
}

/** Evidence of one heartbeat about jobs that it does not list. */
export interface Absence {
  /** Start of the absence, by job id; only jobs absent for at least the minimum time. */
  sinceMs: ReadonlyMap<string, number>;
  /** Last heartbeat of the previous process; set on the first heartbeat of its successor. */
  replacedAtMs?: number | undefined;
}

/** Whether a worker has lost the current dispatch of a job that was recorded with it and is not listed by its heartbeat. */
export function isLost({ id, dispatched_at: atUs }: JobRecord, absence: Absence, nowMs: number): boolean {
  if (atUs === undefined) return false;
  const dispatchedMs = atUs / 1_000;
  const { replacedAtMs = -Infinity } = absence;
  // A dispatch after the last heartbeat of the old process may have reached the new one.
  if (dispatchedMs <= replacedAtMs) return true;
  const sinceMs = absence.sinceMs.get(id);
  return sinceMs !== undefined && nowMs - Math.max(sinceMs, dispatchedMs) >= MIN_ABSENCE_MS;
}
