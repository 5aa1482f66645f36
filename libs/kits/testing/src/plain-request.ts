/**
 * The request of a stored job, with default values. Declares no type, because the store's tests import this library; the
 * compiler checks it against the store's type where it is used.
 */
export const plainRequest = {
  topic: 'job.default',
  priority: 'interactive' as const,
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
