import type { Heartbeat } from '@svc/contract';
import type { JobRecord } from '@svc/store';

/** Heartbeats list this many running jobs at most. */
const maxListed = 256;
/** A dispatch may be on its way to a worker for this long, and so be in no heartbeat yet. */
const MIN_ABSENCE_MS = 2_000;

/**
 * Whether a heartbeat shows that its worker has no other jobs than those it lists. A full worker may have received jobs that
 * wait for a free slot, and a list may be cut off; workers that list nothing say so only by counting no job at all.
 */
export function isComplete({ active_jobs: active, max_parallel_jobs: max, running_jobs: listed }: Heartbeat): boolean {
  if (max > 0 && active >= max) return false;
  return listed.length > 0 ? listed.length >= active && listed.length < maxListed : active === 0;
}

/** Ids of jobs recorded with workers whose heartbeats leave them out, and since when. */
export class AbsentJobs {
  private readonly sinceMs = new Map<string, ReadonlyMap<string, number>>();

  /**
   * Notes which jobs one heartbeat leaves out; for those that it does not leave out, an absence begins anew.
   *
   * @returns since when every compared heartbeat has left out those that have been absent for long enough
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

/** What one heartbeat shows about jobs that it does not list. */
export interface Absence {
  /** Since when jobs have been absent, by id; only those that were for long enough. */
  sinceMs: ReadonlyMap<string, number>;
  /** Another process of the worker was last heard then, and this is the first heartbeat of its successor. */
  replacedAtMs?: number | undefined;
}

/** Whether a worker has lost the current dispatch of a job that was recorded with it and is not listed by its heartbeat. */
export function isLost({ id, dispatched_at: atUs }: JobRecord, absence: Absence, nowMs: number): boolean {
  if (atUs === undefined) return false;
  const dispatchedMs = atUs / 1_000;
  const { replacedAtMs = -Infinity } = absence;
  // What was dispatched after the old process was last heard may have reached the new one.
  if (dispatchedMs <= replacedAtMs) return true;
  const sinceMs = absence.sinceMs.get(id);
  return sinceMs !== undefined && nowMs - Math.max(sinceMs, dispatchedMs) >= MIN_ABSENCE_MS;
}
