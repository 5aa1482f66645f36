import type { JobRecord, StoredRequest } from '@svc/store';
import { plainRequest } from '@svc/testing';

/** A job with nothing special about it. */
export const plainJob = (over: Partial<JobRecord> = {}, request: Partial<StoredRequest> = {}): JobRecord => ({
  id: 'j1',
  tenant: 'acme',
  trace_id: 't1',
  topic: 'job.default',
  state: 'PENDING',
  created_at: 1_000_000,
  updated_at: 2_000_000,
  attempts: 0,
  submitter: 'apikey:1|principal:ann',
  job_hash: 'h',
  deadline_ms: 0,
  parked: '',
  lane: '',
  retry_count: 0,
  request: { ...plainRequest, ...request },
  ...over,
});
