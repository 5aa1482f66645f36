import { isWithheld } from '@svc/jobs';
import { isTerminal } from '@svc/lifecycle';
import type { JobHistoryEntry, JobRecord, Store } from '@svc/store';
import type { EventSubject, RecordEntry } from './read-events';

/** The events of a job: its transitions, from the history in its record, and the reports of its workers. */
export const jobSubject = ({ jobs, index }: Pick<Store, 'jobs' | 'index'>, id: string): EventSubject => ({
  log: { job: id },
  subscriber: { jobId: id },
  async readRecord(after) {
    const [job, history] = await Promise.all([jobs.load(id), jobs.events(id)]);
    const entries = history.slice(after).map((entry) => toEntry(id, entry));
    // A record that has expired.
    if (!job) return { entries, dropped: 0, end: { job_id: id } };
    const end = isTerminal(job.state) ? toEnd(job) : undefined;
    return { entries, dropped: 0, ...(end && { end }) };
  },
  findWithheld: (ids) => findWithheldJobs(index, ids),
});

/** Jobs whose output is withheld, and those whose record has expired. */
export async function findWithheldJobs(index: Store['index'], ids: readonly string[]): Promise<ReadonlySet<string>> {
  const jobs = ids.length === 0 ? [] : await index.records(ids);
  const shown = new Set(jobs.filter((job) => !isWithheld(job)).map(({ id }) => id));
  return new Set(ids.filter((id) => !shown.has(id)));
}

const toEntry = (id: string, { event, from, to, at }: JobHistoryEntry): RecordEntry => ({
  event: 'state',
  at,
  data: { job_id: id, event, ...(from !== undefined && { from }), state: to, at },
});

function toEnd(job: JobRecord): object {
  const { id, state, error_code, error_message, execution_ms, result_ptr = '' } = job;
  return {
    job_id: id,
    state,
    result_ptr: isWithheld(job) ? '' : result_ptr,
    ...(execution_ms !== undefined && { execution_ms }),
    ...(error_code !== undefined && { error_code }),
    ...(error_message !== undefined && { error_message }),
  };
}
