import type { JobRecord } from '@svc/store';

/** Fields of a new job that do not follow from its creation. */
export type NewJobFields = Pick<
  JobRecord,
  'id' | 'tenant' | 'trace_id' | 'topic' | 'request' | 'submitter' | 'job_hash' | 'deadline_ms'
> &
  Partial<JobRecord>;

/** The record of a job as the accepting call will store it. */
export const newJobRecord = (fields: NewJobFields, nowUs: number): JobRecord => ({
  state: 'PENDING',
  created_at: nowUs,
  updated_at: nowUs,
  attempts: 0,
  retry_count: 0,
  parked: '',
  lane: '',
  ...fields,
});
