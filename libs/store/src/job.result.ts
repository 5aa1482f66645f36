import type { DecisionRecord, JobRecord, StoredRequest } from './job.record';

/** Fields of a record that handling its result reads. A ticket holds them, so that the record need not be read. */
const recordFields = [
  'id', 'tenant', 'trace_id', 'topic', 'state', 'created_at', 'attempts', 'retry_count', 'deadline_ms', 'worker_id',
  'dispatch_id', 'started_at', 'cost', 'run', 'letter', 'waiting_reason', 'error_code', 'error_message', 'error_status',
  'last_state', 'output_safety', 'turn_cost',
] as const satisfies (keyof JobRecord)[]; // prettier-ignore
const requestFields = [
  'labels', 'capability', 'risk_tags', 'principal_id', 'pack_id', 'team_id', 'workflow_id', 'step_id', 'priority',
  'queue_ttl_ms',
] as const satisfies (keyof StoredRequest)[]; // prettier-ignore

/** A job as the handling of its result needs it. */
export type ResultJob = Pick<JobRecord, (typeof recordFields)[number]> & {
  request: Pick<StoredRequest, (typeof requestFields)[number]>;
  /** Its constraints: only `budgets`. */
  safety?: Pick<DecisionRecord, 'constraints'> | undefined;
};

/** The part of a record that a ticket holds. */
export function toResultJob(job: JobRecord): ResultJob {
  const budgets = job.safety?.constraints?.['budgets'];
  return {
    ...pick(job, recordFields),
    request: pick(job.request, requestFields),
    ...(budgets !== undefined && { safety: { constraints: { budgets } } }),
  };
}

function pick<T extends object, K extends keyof T>(from: T, fields: readonly K[]): Pick<T, K> {
  const entries = fields.filter((field) => from[field] !== undefined).map((field) => [field, from[field]]);
  return Object.fromEntries(entries) as Pick<T, K>;
}
