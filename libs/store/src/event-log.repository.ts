import type { Redis } from 'ioredis';
import type { Keys } from './keys';
import { runScript } from './scripts';

/** A report of a worker in the log of a job or run. */
export interface LoggedEvent {
  /** From 1, without gaps while entries are kept. */
  seq: number;
  /** JSON object: `job_id`, `attempt`, and the fields of the report. */
  text: string;
}

export interface LoggedEvents {
  events: LoggedEvent[];
  /** Number of entries after the position that are no longer kept; unknown when the log has expired since. */
  dropped: number | 'unknown';
}

/** The job or run whose log is read. */
export type LogOwner = { job: string } | { run: string };

/** Bounded logs of what workers report about jobs: progress, log lines, partial output. */
export class EventLogRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /**
   * Logs reports, if the worker holds the job and the dispatch is current, and announces them to gateways with stream clients.
   *
   * @param dispatchId '' = not named by the worker
   * @param reports JSON objects with at least one field
   */
  async report(
    jobId: string,
    workerId: string,
    dispatchId: string,
    reports: readonly string[],
  ): Promise<'added' | 'stale' | 'missing'> {
    const reply = await runScript(this.redis, 'addJobEvents', this.keys.job(jobId), workerId, dispatchId, ...reports);
    return (reply as ['added' | 'stale' | 'missing'])[0];
  }

  /** Entries after a position, oldest first. @param after 0 = from the start */
  async read(owner: LogOwner, after: number, limit: number): Promise<LoggedEvents> {
    const key = 'job' in owner ? this.keys.jobEvents(owner.job) : this.keys.runEvents(owner.run);
    const [next = [], last = []] = await Promise.all([
      this.redis.xrange(key, `(0-${after}`, '+', 'COUNT', limit),
      this.redis.xrevrange(key, '+', '-', 'COUNT', 1),
    ]);
    const lastSeq = last[0] ? toSeq(last[0][0]) : 0;
    // The log expired, and a new one may have begun.
    if (after > lastSeq) {
      const fresh = lastSeq === 0 ? [] : await this.redis.xrange(key, '-', '+', 'COUNT', limit);
      return { events: fresh.map(toEvent), dropped: 'unknown' };
    }
    const events = next.map(toEvent);
    return { events, dropped: events[0] ? events[0].seq - after - 1 : 0 };
  }
}

const toSeq = (id: string): number => Number(id.slice(id.indexOf('-') + 1));
const toEvent = ([id, [, text = '{}']]: [string, string[]]): LoggedEvent => ({ seq: toSeq(id), text });
