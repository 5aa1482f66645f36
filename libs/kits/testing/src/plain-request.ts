/**
 * What somebody asked for, with nothing special about it: the request of a stored job. The store's own type is not named
 * here, since its tests import this library; whoever hands it to the store has it checked against that type.
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
