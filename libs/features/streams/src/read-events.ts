import type { ServerSentEvent } from '@svc/http';
import type { EventLogRepository, LoggedEvent, LogOwner } from '@svc/store';
import type { LoggedReport } from './job-packets';
import { positionText, type Position } from './position';
import { Waker } from './waker';
import type { StreamHub, Subscriber } from './hub';

/** Events read at a time, which bounds the memory of a client that has just connected. */
const PAGE = 200;
/** The last reports of a job may arrive shortly after its result. */
const LATE_REPORTS_MS = 200;
/** A change that was not announced is found after this time. */
const POLL_MS = 5_000;

/** An entry of a record: a transition of a job, or an event of a run. */
export interface RecordEntry {
  event: string;
  /** µs, for the order of entries and reports. */
  at: number;
  data: object;
}

/** The part of a record that a client has not read. */
export interface RecordPage {
  entries: readonly RecordEntry[];
  /** Entries that are no longer kept. */
  dropped: number;
  /** Data of the last event, when nothing will follow. */
  end?: object;
}

/** A job or run whose events are read. */
export interface EventSubject {
  log: LogOwner;
  /** The part of the record after a position. */
  readRecord(after: number): Promise<RecordPage>;
  /** The jobs whose output is withheld from readers. */
  findWithheld(jobIds: readonly string[]): Promise<ReadonlySet<string>>;
  subscriber: Pick<Subscriber, 'jobId' | 'runId'>;
}

export interface ReadDeps {
  hub: StreamHub;
  logs: EventLogRepository;
}

/**
 * Reads the events of a job or run: first those that exist, then, with `follow`, each one when it happens, until the job or
 * run has ended. The record and the log are the only source; live events merely cause the next read, so a client that
 * reconnects with the position of its last event misses nothing.
 */
export async function* readEvents(
  { hub, logs }: ReadDeps,
  subject: EventSubject,
  from: Position,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<readonly ServerSentEvent[]> {
  const waker = new Waker();
  // Before the first read, so that no change in between is missed.
  const leave = follow
    ? await hub.subscribe({
        scope: '*',
        classes: new Set(['job', 'run']),
        ...subject.subscriber,
        deliver: waker.wake,
        onGap: waker.wake,
      })
    : () => undefined;
  try {
    let position = from;
    let mayBeLate = false;
    while (!signal.aborted) {
      const page = await readPage(logs, subject, position);
      position = page.position;
      if (page.events.length > 0) yield page.events;
      if (page.hasMore) continue;
      if (page.end && mayBeLate) {
        mayBeLate = false;
        await waker.wait(LATE_REPORTS_MS, signal);
        continue;
      }
      if (page.end) yield [{ id: positionText(position), event: 'end', data: page.end }];
      if (page.end ?? !follow) return;
      await waker.wait(POLL_MS, signal);
      mayBeLate = true;
    }
  } finally {
    leave();
  }
}

interface Page {
  events: ServerSentEvent[];
  position: Position;
  hasMore: boolean;
  end?: object;
}

async function readPage(logs: EventLogRepository, subject: EventSubject, from: Position): Promise<Page> {
  // The log first: a report precedes the end of its job, so with the end in the record no report is missed.
  const logged = await logs.read(subject.log, from.log, PAGE);
  const record = await subject.readRecord(from.record);
  const reports = logged.events.map(parseReport);
  const withPartialOutput = reports.filter(({ report }) => report.kind === 'output').map(({ report }) => report.job_id);
  const withheld = await subject.findWithheld([...new Set(withPartialOutput)]);
  const events: ServerSentEvent[] = [];
  let position = from;
  const add = (next: Position, event: string, data: object) => {
    position = next;
    events.push({ id: positionText(next), event, data });
  };
  if (record.dropped > 0) {
    add({ ...position, record: position.record + record.dropped }, 'gap', { of: 'record', dropped: record.dropped });
  }
  if (logged.dropped !== 0) {
    const restart = logged.dropped === 'unknown' ? 0 : position.log + logged.dropped;
    add({ ...position, log: restart }, 'gap', { of: 'reports', dropped: logged.dropped });
  }
  for (const entry of merge(record.entries, reports)) {
    if (entry.kind === 'record') {
      add({ ...position, record: position.record + 1 }, entry.entry.event, entry.entry.data);
    } else {
      const { seq, report } = entry;
      const isHidden = report.kind === 'output' && withheld.has(report.job_id);
      const data = isHidden ? { job_id: report.job_id, at: report.at } : withoutKind(report);
      add({ ...position, log: seq }, isHidden ? 'withheld' : report.kind, data);
    }
  }
  const hasMore = logged.events.length === PAGE;
  return { events, position, hasMore, ...(record.end && { end: record.end }) };
}

type Entry = { at: number } & (
  { kind: 'record'; entry: RecordEntry } | { kind: 'report'; seq: number; report: LoggedReport }
);

const parseReport = ({ seq, text }: LoggedEvent): Entry & { kind: 'report' } => {
  const report = JSON.parse(text) as LoggedReport;
  return { kind: 'report', at: report.at, seq, report };
};

/** Both lists are in order, and stay so. */
function merge(entries: readonly RecordEntry[], reports: readonly (Entry & { kind: 'report' })[]): Entry[] {
  const merged: Entry[] = [];
  let next = 0;
  for (const entry of entries) {
    for (let report = reports[next]; report && report.at < entry.at; report = reports[++next]) merged.push(report);
    merged.push({ kind: 'record', at: entry.at, entry });
  }
  return [...merged, ...reports.slice(next)];
}

const withoutKind = ({ kind: _kind, ...data }: LoggedReport): object => data;
