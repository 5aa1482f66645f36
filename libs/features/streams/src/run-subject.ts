import { isRunEnded } from '@svc/lifecycle';
import type { JsonObject, Store } from '@svc/store';
import { toTimelineView } from '@svc/workflows';
import { findWithheldJobs } from './job-subject';
import type { EventSubject, RecordEntry } from './read-events';

/** The events of a run: its timeline, and what the workers of its jobs report. */
export const runSubject = ({ runs, index }: Pick<Store, 'runs' | 'index'>, id: string): EventSubject => ({
  log: { run: id },
  subscriber: { runId: id },
  async readRecord(after) {
    const run = await runs.header(id);
    // After the status: the events of an ended run are complete.
    const { events, dropped } = await runs.timelineAfter(id, after);
    const entries = events.map((event) => toEntry(event));
    if (!run) return { entries, dropped, end: { run_id: id } };
    const end = isRunEnded(run.status) ? { run_id: id, status: run.status } : undefined;
    return { entries, dropped, ...(end && { end }) };
  },
  findWithheld: (ids) => findWithheldJobs(index, ids),
});

function toEntry(event: JsonObject): RecordEntry {
  const view = toTimelineView(event);
  return { event: 'timeline', at: Date.parse(view.time) * 1_000, data: view };
}
