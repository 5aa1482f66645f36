import type { ScheduleFields, ScheduleView } from '@svc/contract';
import type { ScheduleNow, ScheduleRecord } from '@svc/store';
import { nextTimes, readTimes, type ReadTimes } from '@svc/workflow';

/** Document of a stored schedule; the store does not interpret it. */
export interface ScheduleDocument {
  fields: ScheduleFields;
  /** Origin of an interval without `start_at`, Unix ms: set once, so that its times never shift. */
  from_ms: number;
  /** Identity of the creator; absent in schedules of older versions. */
  author?: string;
  /** Identity of the last editor of the fields. */
  editor?: string;
  /** Agent that created it, and as which it starts runs. */
  agent_id?: string;
}

/** Validated at write time; only `save-schedule` writes it. */
export const parseDocument = ({ document }: Pick<ScheduleRecord, 'document'>): ScheduleDocument =>
  document as unknown as ScheduleDocument;

export const getTimes = ({ fields, from_ms: fromMs }: ScheduleDocument): ReadTimes => readTimes(fields, fromMs);

const isoUs = (us: number): string => new Date(us / 1_000).toISOString();

/** @param next number of upcoming times to include */
export function toScheduleView({ record, nowMs }: ScheduleNow, next: number): ScheduleView {
  const document = parseDocument(record);
  const { last_run_id: runId, last_time: time, last_error: error } = record;
  return {
    ...document.fields,
    id: record.id,
    workflow_id: record.workflow_id,
    next_times: upcomingTimes(document, nowMs, next).map((one) => new Date(one).toISOString()),
    created_by: record.created_by,
    ...(document.agent_id !== undefined && { agent_id: document.agent_id }),
    created_at: isoUs(record.created_at),
    updated_at: isoUs(record.updated_at),
    ...(runId !== undefined && { last_run_id: runId }),
    ...(time !== undefined && { last_time: isoUs(time) }),
    ...(error !== undefined && { last_error: error }),
  };
}

function upcomingTimes(document: ScheduleDocument, nowMs: number, count: number): number[] {
  const read = getTimes(document);
  return document.fields.paused || read.kind === 'bad' ? [] : nextTimes(read.times, nowMs, count);
}
