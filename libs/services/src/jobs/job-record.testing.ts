import type { JobRecord, StoredRequest } from '@svc/store';

export const plainRequest: StoredRequest = {
  topic: 'job.default',
  priority: 'interactive',
  risk_tags: [],
  requires: [],
  tags: [],
  labels: {},
  memory_id: 'm',
  context_mode: 'raw',
  principal_id: 'ann',
  actor_id: 'ann',
  max_input_tokens: 8_000,
  max_output_tokens: 1_024,
  max_total_tokens: 0,
  deadline_ms: 0,
  allow_summarization: false,
  allow_retrieval: false,
  env: {},
};

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
