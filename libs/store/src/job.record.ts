import type { JobState } from '@svc/lifecycle';

/** Limits that a job names by keys, unique in its tenant. See docs/reference/routing.md#limits-by-key. */
export interface JobLimits {
  /** Jobs that run at the same time. */
  concurrency?: { key: string; limit: number; strategy: 'queue' | 'cancel_newest' | 'cancel_oldest' };
  /** Starts per period. */
  rate?: { key: string; limit: number; per_ms: number };
  /** Start after a period without a newer submission, or `max_ms` after the first one. */
  debounce?: { key: string; period_ms: number; max_ms: number };
  /** Open jobs: at most one. */
  singleton?: { key: string; mode: 'reject' | 'return' };
}

/** The limit that a job waits for, and the lane that it enters then. */
export interface BlockedBy {
  by: 'concurrency' | 'rate' | 'debounce';
  lane: { id: string; spec: string; level: number };
}

/** The normalized request, stored once as JSON and never changed. See docs/reference/jobs.md#submit-a-job. */
export interface StoredRequest {
  topic: string;
  priority: 'critical' | 'interactive' | 'batch';
  adapter_id?: string;
  capability?: string;
  risk_tags: string[];
  requires: string[];
  tags: string[];
  labels: Record<string, string>;
  memory_id: string;
  context_mode: string;
  principal_id: string;
  actor_id: string;
  actor_type?: string;
  team_id?: string;
  project_id?: string;
  pack_id?: string;
  idempotency_key?: string;
  /** Estimated cost in US dollars; absent = unknown. */
  estimated_cost?: number;
  max_input_tokens: number;
  max_output_tokens: number;
  max_total_tokens: number;
  /** Requested, relative; the absolute deadline is `deadline_ms` of the record. 0 = none. */
  deadline_ms: number;
  allow_summarization: boolean;
  allow_retrieval: boolean;
  env: Record<string, string>;
  /** Pointer to the input document, if not at the default key; jobs submitted on the bus may name another. */
  context_ptr?: string;
  /** Properties of the input document stated by the submitter, for readers to verify. */
  context_ref?: {
    resolver_id?: string;
    /** Hex. */
    sha256?: string;
    media_type?: string;
    size_bytes?: number;
    /** Seconds since 1970. */
    expires_at?: number;
    purpose?: string;
  };
  /** Maximum wait before the first dispatch, ms; absent = until its deadline. */
  queue_ttl_ms?: number;
  limits?: JobLimits;
  parent_job_id?: string;
  workflow_id?: string;
  run_id?: string;
  step_id?: string;
  agent_id?: string;
}

/** A policy decision in the history of a job. See docs/reference/policy.md#decisions. */
export interface DecisionRecord {
  decision: 'ALLOW' | 'DENY' | 'REQUIRE_APPROVAL' | 'THROTTLE' | 'ALLOW_WITH_CONSTRAINTS' | 'UNAVAILABLE';
  reason?: string;
  rule_id?: string;
  policy_snapshot?: string;
  constraints?: Record<string, unknown>;
  approval_required?: boolean;
  approval_ref?: string;
  job_hash?: string;
  remediations?: RemediationRecord[];
  /** µs */
  checked_at: number;
  source: 'gateway' | 'scheduler' | 'approval';
}

export interface RemediationRecord {
  id: string;
  title?: string;
  summary?: string;
  replacement_topic?: string;
  replacement_capability?: string;
  add_labels?: Record<string, string>;
  remove_labels?: string[];
}

/** Requirements of an approval step beyond a single approval. See docs/reference/workflows.md#steps. */
export interface GateTerms {
  /** Required number of approvals by different people. */
  quorum: number;
  /** The starter of the run may not resolve it. */
  exclude_starter: boolean;
  /** Principal that started the run. */
  requester: string;
  /** Role that may decide only after the escalation. */
  escalate_to?: string;
  escalated?: boolean;
  reminders?: number;
}

/** One vote on an approval step. */
export interface ApprovalAnswer {
  by: string;
  role: string;
  /** µs */
  at: number;
  approved: boolean;
  comment?: string;
  /** Identity in the format of `submitter`; equal identities are the same person. */
  identity?: string;
}

/** The delegation by which the agent of a job acts. Times are unix seconds, except the last two: µs. */
export interface JobDelegation {
  jti: string;
  /** Agent that acts. */
  audience: string;
  /** Agent at the root of the chain, and the one that delegated to the audience. */
  root_issuer: string;
  parent_issuer: string;
  chain_depth: number;
  chain: { agent_id: string; issued_at: number; expires_at: number; jti: string; parent_jti: string }[];
  scope: { allowed_actions: string[]; allowed_topics: string[] };
  expires_at: number;
  verified_at: number;
  reverified_at_dispatch?: number;
}

/** The approval of a job and its resolution. See docs/reference/jobs.md#approvals. */
export interface ApprovalRecord {
  status: 'pending' | 'approved' | 'rejected' | 'invalidated' | 'repaired';
  revision: number;
  decision?: 'approve' | 'reject' | 'invalidate' | 'expire' | 'repair';
  resolved_by?: string;
  resolved_role?: string;
  /** µs */
  resolved_at?: number;
  reason?: string;
  note?: string;
  policy_snapshot?: string;
  job_hash?: string;
  /** SHA-256 (hex) of the input document it covers; '' if the platform cannot read the input. */
  input_hash?: string;
  /** Expiry, µs; absent if the approval expires with its run. */
  expires_at?: number;
  /** Only approval steps of workflows have these two. */
  gate?: GateTerms;
  answers?: ApprovalAnswer[];
  /** Author of the repair of a stuck resolution, and that resolution. */
  repair?: { was: 'approved' | 'rejected'; by: string; role: string; at: number };
}

/** The resolution of an approval, repaired or not; undefined while it is pending and after an expiry. */
export function toResolution({ status, repair }: ApprovalRecord): 'approved' | 'rejected' | undefined {
  if (status === 'approved' || status === 'rejected') return status;
  return status === 'repaired' ? repair?.was : undefined;
}

/** See docs/reference/jobs.md#read-jobs. */
export interface OutputSafetyRecord {
  decision: 'ALLOW' | 'QUARANTINE' | 'REDACT';
  reason: string;
  rule_id: string;
  policy_snapshot: string;
  findings: Record<string, unknown>[];
  phase: 'sync' | 'async';
  redacted_ptr?: string;
  original_ptr?: string;
  /** µs */
  checked_at: number;
  check_duration_ms: number;
  scanned_bytes?: number;
  truncated?: boolean;
  /** The check failed and the result was released. */
  skipped?: boolean;
  /** When the quarantined result was released, µs. */
  released_at?: number;
  released_by?: string;
  release_reason?: string;
  /** When the quarantine was confirmed, µs. */
  confirmed_at?: number;
  confirmed_by?: string;
}

/** The budget limit that blocks a job; amounts in micros (millionths of a US dollar). */
export interface OverBudget {
  limit: 'daily_limit_usd' | 'monthly_limit_usd' | 'per_workflow_max_usd' | 'per_job_max_usd';
  /** `tenant acme`, `team ml`, `workflow etl`, `run 5f…`, `job 5f…`. */
  of: string;
  amount: number;
  spent: number;
  reserved: number;
  /** End of its period, unix ms; absent = waiting does not help. */
  ends_ms?: number;
}

/** A job record. Times are µs unless the name ends in ms. */
export interface JobRecord {
  id: string;
  tenant: string;
  trace_id: string;
  topic: string;
  state: JobState;
  created_at: number;
  updated_at: number;
  attempts: number;
  request: StoredRequest;
  submitter: string;
  job_hash: string;
  /** Absolute, unix ms; 0 = none. */
  deadline_ms: number;
  parked: string;
  lane: string;
  waiting_reason?: string;
  waiting_since?: number;
  worker_id?: string;
  pool?: string;
  dispatch_id?: string;
  dispatched_at?: number;
  /** Stream sequence of the dispatch message; absent without JetStream. */
  dispatch_seq?: number;
  started_at?: number;
  completed_at?: number;
  execution_ms?: number;
  run_ms?: number;
  progress_percent?: number;
  progress_message?: string;
  /** Last progress of the current dispatch, µs. */
  progress_at?: number;
  /** When a scheduler first found it past its time limit but had unprocessed results; 0 = not set. */
  overdue_at?: number;
  result_ptr?: string;
  artifact_ptrs?: string[];
  error_code?: string;
  error_message?: string;
  error_status?: string;
  last_state?: string;
  /** Worker status behind the state FAILED; the run must not retry the job. */
  reported?: 'FAILED_FATAL' | 'DENIED';
  /**
   * `withhold`: its run retries it, so a failure writes no dead letter. `withheld`: it failed without a dead letter.
   * `written`: the dead letter was written later, because no attempt followed.
   */
  letter?: 'withhold' | 'withheld' | 'written';
  retry_count: number;
  preempted?: number;
  safety?: DecisionRecord;
  safety_snapshot?: string;
  /** The accepting call placed the job by the decision of its submission; absent: the scheduler decided first. */
  decided?: 'submission';
  /** Cost of a turn of its tenant: 1, or less for a tenant of higher weight. Absent = 1. */
  turn_cost?: number;
  /** Its limits by key, for scripts: those of the request. */
  limits?: JobLimits;
  /** Absent: it waits for none of its limits. */
  blocked?: BlockedBy;
  approval?: ApprovalRecord;
  output_safety?: OutputSafetyRecord;
  intent?: string;
  /** Its reservation in budgets until it ends (JSON). */
  reserved?: string;
  /** Cost reported by its workers, micros; after its end the charged cost. */
  cost?: number;
  over_budget?: OverBudget;
  /** It has recorded side effects. */
  effects?: '1';
  /** Scope of its effects, if it is that of the job that it retries. */
  effects_of?: string;
  /** Whether the outcome of an effect is unknown, or was. */
  outcome?: 'unknown' | 'settled';
  /** Run that owns the job as step or compensation and is notified of its end. Set only by the engine. */
  run?: string;
  /** Identity of the author of the workflow version of its run. */
  author?: string;
  /** Step or item of that run; absent for a compensation. */
  run_path?: string;
  /** The agent that submitted it, then those that delegated to it: `<id>:<revision>` as they were checked, by spaces. */
  agents?: string;
  /** Pools in which its agent may run jobs, one per line between line ends, or `*`. */
  agent_pools?: string;
  /** Absent: its agent acts by its own scope. */
  delegation?: JobDelegation;
  /** Tokens of that delegation, root first, and when each ends: `<jti>:<ms>`, by spaces. */
  delegation_chain?: string;
}

/** The fields of a record that name its agents, for calls that accept or dispatch the job. */
export const agentFields = ({
  agents,
  agent_pools,
  delegation_chain,
}: Pick<JobRecord, 'agents' | 'agent_pools' | 'delegation_chain'>): object =>
  agents === undefined ? {} : { agents, agent_pools: agent_pools ?? '', ...(delegation_chain && { delegation_chain }) };

const numbers = new Set([
  'created_at', 'updated_at', 'attempts', 'deadline_ms', 'waiting_since', 'dispatched_at', 'dispatch_seq', 'started_at', 'completed_at',
  'execution_ms', 'run_ms', 'progress_percent', 'progress_at', 'overdue_at', 'retry_count', 'preempted', 'cost',
  'turn_cost',
]); // prettier-ignore
const documents = new Set([
  'request',
  'safety',
  'approval',
  'output_safety',
  'artifact_ptrs',
  'over_budget',
  'limits',
  'blocked',
  'delegation',
]);

/** Fields for which '' is a value; for all others it means absent. */
const mayBeEmpty = new Set(['parked', 'lane', 'submitter', 'trace_id', 'topic']);
/** Stored in the record hash but read separately. */
const apart = new Set(['history', 'decisions']);

const parseValue = (field: string, value: string): unknown =>
  numbers.has(field) ? Number(value) : documents.has(field) ? (JSON.parse(value) as unknown) : value;

/** Parses the hash fields of a record; undefined if there is no record. */
export function parseJob(fields: Readonly<Record<string, string>>): JobRecord | undefined {
  const job: Record<string, unknown> = { retry_count: 0, deadline_ms: 0 };
  for (const field in fields) {
    const value = fields[field] ?? '';
    if (!apart.has(field) && (value !== '' || mayBeEmpty.has(field))) job[field] = parseValue(field, value);
  }
  return job['state'] === undefined ? undefined : (job as unknown as JobRecord);
}

/** Fields that readers of an ended job see and that may change after its submission. They are announced with its end. */
export const endingFields = [
  'state', 'updated_at', 'attempts', 'safety', 'approval', 'worker_id', 'pool', 'dispatched_at', 'started_at', 'completed_at',
  'execution_ms', 'progress_percent', 'progress_message', 'result_ptr', 'artifact_ptrs', 'output_safety', 'cost',
  'over_budget', 'error_code', 'error_message', 'error_status', 'last_state', 'waiting_reason', 'parked', 'outcome',
] as const satisfies (keyof JobRecord)[]; // prettier-ignore

/** Fields that stream clients see of a job that changed state. */
export const changeFields = [
  'tenant', 'topic', 'trace_id', 'attempts', 'run', 'run_path', 'worker_id', 'pool', 'execution_ms', 'error_code',
  'error_message', 'result_ptr', 'output_safety',
] as const satisfies (keyof JobRecord)[]; // prettier-ignore

/** The end of a job, as announced to those who wait for it. */
export interface JobEnding {
  /** Values of `endingFields`, as stored; absent fields are empty. */
  fields: Readonly<Record<string, string>>;
  /** The result, if it is small, released and at the default key of the job. */
  body?: string;
}

/** The record of a job after its end. @param job its record at any time since its submission */
export function applyEnding(job: JobRecord, { fields }: JobEnding): JobRecord {
  const ended: Record<string, unknown> = { ...job };
  for (const field of endingFields) {
    const value = fields[field];
    if (value !== undefined) ended[field] = parseValue(field, value);
    else if (mayBeEmpty.has(field)) ended[field] = '';
    else Reflect.deleteProperty(ended, field);
  }
  return ended as unknown as JobRecord;
}

/** Fields of a job in lists. Reading complete records would dominate the cost of a page. */
export const summaryFields = [
  'id', 'state', 'tenant', 'topic', 'trace_id', 'created_at', 'updated_at', 'attempts', 'deadline_ms', 'worker_id',
  'request', 'safety', 'error_message', 'run',
] as const satisfies (keyof JobRecord)[]; // prettier-ignore
export type JobSummary = Pick<JobRecord, (typeof summaryFields)[number]>;

/** Parses the values of `summaryFields`, in their order. */
export function parseSummary(values: readonly (string | null)[]): JobSummary | undefined {
  const job: Record<string, unknown> = { deadline_ms: 0 };
  for (const [i, field] of summaryFields.entries()) {
    const value = values[i] ?? '';
    if (value !== '' || mayBeEmpty.has(field)) job[field] = parseValue(field, value);
  }
  return job['state'] === undefined ? undefined : (job as unknown as JobSummary);
}

/** Serializes fields as a list of field and value, omitting undefined ones. The inverse of `parseJob`. */
export function flattenJob(fields: Partial<JobRecord>): string[] {
  const list: string[] = [];
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined) list.push(field, documents.has(field) ? JSON.stringify(value) : String(value));
  }
  return list;
}
