import type { ScheduleFields, ScheduleView } from '@svc/contract';
import type { ScheduleNow, ScheduleRecord } from '@svc/store';
import { nextTimes, readTimes, type ReadTimes } from '@svc/workflow';

/** What the store keeps of a schedule, beside what it looks at itself. */
export interface ScheduleDocument {
  fields: ScheduleFields;
  /** What an interval without `start_at` counts from, Unix ms: fixed once, so that its times never shift. */
  from_ms: number;
  /** Identity of who made it; absent for schedules from before it was kept. */
  author?: string;
  /** Identity of who changed its fields last. */
  editor?: string;
}

/** What the store holds was checked when it was written; only `save-schedule` writes it. */
export const documentOf = ({ document }: Pick<ScheduleRecord, 'document'>): ScheduleDocument =>
  document as unknown as ScheduleDocument;

export const timesOf = ({ fields, from_ms: fromMs }: ScheduleDocument): ReadTimes => readTimes(fields, fromMs);

const isoUs = (us: number): string => new Date(us / 1_000).toISOString();

/** @param next how many starts to come are told */
export function scheduleViewOf({ record, nowMs }: ScheduleNow, next: number): ScheduleView {
  const document = documentOf(record);
  const { last_run_id: runId, last_time: time, last_error: error } = record;
  return {
    ...document.fields,
    id: record.id,
    workflow_id: record.workflow_id,
    next_times: comingTimes(document, nowMs, next).map((one) => new Date(one).toISOString()),
    created_by: record.created_by,
    created_at: isoUs(record.created_at),
    updated_at: isoUs(record.updated_at),
    ...(runId !== undefined && { last_run_id: runId }),
    ...(time !== undefined && { last_time: isoUs(time) }),
    ...(error !== undefined && { last_error: error }),
  };
}

function comingTimes(document: ScheduleDocument, nowMs: number, count: number): number[] {
  const read = timesOf(document);
  return document.fields.paused || read.kind === 'bad' ? [] : nextTimes(read.times, nowMs, count);
}
