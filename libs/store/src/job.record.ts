import type { JobState } from '@svc/lifecycle';

/** What was asked for, normalised: stored once as JSON and never changed. See docs/reference/jobs.md#submit-a-job. */
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
  /** US dollars that it is thought to cost; absent = nobody says. */
  estimated_cost?: number;
  max_input_tokens: number;
  max_output_tokens: number;
  max_total_tokens: number;
  /** As asked, relative; the absolute deadline is `deadline_ms` of the record. 0 = none. */
  deadline_ms: number;
  allow_summarization: boolean;
  allow_retrieval: boolean;
  env: Record<string, string>;
  /** Where the input document is, when not at the job's own place: jobs that come over the bus may name another. */
  context_ptr?: string;
  /** What the submitter states about the input document, for its readers to verify. */
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
  /** How long it may wait before it is first given out, ms; absent = as long as its deadline allows. */
  queue_ttl_ms?: number;
  parent_job_id?: string;
  workflow_id?: string;
  run_id?: string;
  step_id?: string;
  agent_id?: string;
}

/** One policy decision, as kept in the history of a job. See docs/reference/policy.md#decisions. */
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

/** What a gate of a workflow asks beyond one person's word. See docs/reference/workflows.md#steps. */
export interface GateTerms {
  /** Approvals of different people that it takes. */
  quorum: number;
  /** The starter of the run may not resolve it. */
  exclude_starter: boolean;
  /** Principal that started the run. */
  requester: string;
  /** Role that may decide only once the gate was escalated. */
  escalate_to?: string;
  escalated?: boolean;
  reminders?: number;
}

/** One person's word on a gate. */
export interface ApprovalAnswer {
  by: string;
  role: string;
  /** µs */
  at: number;
  approved: boolean;
  comment?: string;
  /** Their identity, as that of a submitter: who shares it is the same person. */
  identity?: string;
}

/** How a person decided, or how the wait for one ended. See docs/reference/jobs.md#approvals. */
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
  /** SHA-256 (hex) of the input document it covers; '' when the platform cannot read the input. */
  input_hash?: string;
  /** When the wait for a person ends, µs; absent when something else ends it. */
  expires_at?: number;
  /** Only gates of workflows have these two. */
  gate?: GateTerms;
  answers?: ApprovalAnswer[];
  /** Who carried out a decision that had stuck, and which it was. */
  repair?: { was: 'approved' | 'rejected'; by: string; role: string; at: number };
}

/** The resolution that people gave, also one that a repair applied; undefined while it is open, or when it lapsed. */
export function verdictOf({ status, repair }: ApprovalRecord): 'approved' | 'rejected' | undefined {
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
  /** The check could not be made and the result was released all the same. */
  skipped?: boolean;
  /** When somebody let a quarantined result be read all the same, µs. */
  released_at?: number;
  released_by?: string;
  release_reason?: string;
  /** When somebody found that it is rightly withheld, µs. */
  confirmed_at?: number;
  confirmed_by?: string;
}

/** The limit in whose way a job stands; amounts in micros (millionths of a US dollar). */
export interface OverBudget {
  limit: 'daily_limit_usd' | 'monthly_limit_usd' | 'per_workflow_max_usd' | 'per_job_max_usd';
  /** `tenant acme`, `team ml`, `workflow etl`, `run 5f…`, `job 5f…`. */
  of: string;
  amount: number;
  spent: number;
  reserved: number;
  /** When its period is over, unix ms; absent = time alone does not help. */
  ends_ms?: number;
}

/** A job as Redis holds it. Times are µs unless the name says ms. */
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
  /** Of the message that carries its dispatch; absent without JetStream. */
  dispatch_seq?: number;
  started_at?: number;
  completed_at?: number;
  execution_ms?: number;
  run_ms?: number;
  progress_percent?: number;
  progress_message?: string;
  /** Last sign of life of the current dispatch, µs. */
  progress_at?: number;
  /** When a scheduler that could not yet tell whether it was answered first found it out of time; 0 = void. */
  overdue_at?: number;
  result_ptr?: string;
  artifact_ptrs?: string[];
  error_code?: string;
  error_message?: string;
  error_status?: string;
  last_state?: string;
  /** Worker status that the state does not show: the job is FAILED, and its run may not retry it. */
  reported?: 'FAILED_FATAL' | 'DENIED';
  /**
   * `withhold`: its run retries it, so a failure writes no dead letter. `withheld`: it failed, and none was written.
   * `written`: it was written later, as no attempt followed.
   */
  letter?: 'withhold' | 'withheld' | 'written';
  retry_count: number;
  preempted?: number;
  safety?: DecisionRecord;
  safety_snapshot?: string;
  approval?: ApprovalRecord;
  output_safety?: OutputSafetyRecord;
  intent?: string;
  /** What it holds in its budgets until it ends (JSON). */
  reserved?: string;
  /** What its workers said it cost, micros; at its end what it counts for. */
  cost?: number;
  over_budget?: OverBudget;
  /** Run whose step or compensation it is: it hears of the job's end. Only the engine sets it. */
  run?: string;
  /** Identity of who wrote the version of the workflow that its run runs. */
  author?: string;
  /** Step or item of that run; absent for a compensation. */
  run_path?: string;
}

const numbers = new Set([
  'created_at', 'updated_at', 'attempts', 'deadline_ms', 'waiting_since', 'dispatched_at', 'dispatch_seq', 'started_at', 'completed_at',
  'execution_ms', 'run_ms', 'progress_percent', 'progress_at', 'overdue_at', 'retry_count', 'preempted', 'cost',
]); // prettier-ignore
const documents = new Set(['request', 'safety', 'approval', 'output_safety', 'artifact_ptrs', 'over_budget']);

/** Of these '' says something; of all others it means that they are absent. */
const mayBeEmpty = new Set(['parked', 'lane', 'submitter', 'trace_id', 'topic']);
/** Kept with the record and read apart from it. */
const apart = new Set(['history', 'decisions']);

const valueOf = (field: string, value: string): unknown =>
  numbers.has(field) ? Number(value) : documents.has(field) ? (JSON.parse(value) as unknown) : value;

/** Reads a record from its fields as Redis holds them; undefined when there is none. */
export function parseJob(fields: Readonly<Record<string, string>>): JobRecord | undefined {
  const job: Record<string, unknown> = { retry_count: 0, deadline_ms: 0 };
  for (const field in fields) {
    const value = fields[field] ?? '';
    if (!apart.has(field) && (value !== '' || mayBeEmpty.has(field))) job[field] = valueOf(field, value);
  }
  return job['state'] === undefined ? undefined : (job as unknown as JobRecord);
}

/** What lists show of a job: reading the rest of fifty records for each page would be most of the work. */
export const summaryFields = [
  'id', 'state', 'tenant', 'topic', 'trace_id', 'created_at', 'updated_at', 'attempts', 'deadline_ms', 'worker_id',
  'request', 'safety', 'error_message', 'run',
] as const satisfies (keyof JobRecord)[]; // prettier-ignore
export type JobSummary = Pick<JobRecord, (typeof summaryFields)[number]>;

/** The same from the values of `summaryFields`, in their order. */
export function parseSummary(values: readonly (string | null)[]): JobSummary | undefined {
  const job: Record<string, unknown> = { deadline_ms: 0 };
  for (const [i, field] of summaryFields.entries()) {
    const value = values[i] ?? '';
    if (value !== '' || mayBeEmpty.has(field)) job[field] = valueOf(field, value);
  }
  return job['state'] === undefined ? undefined : (job as unknown as JobSummary);
}

/** Fields as they are written; undefined ones are left out. The inverse of `parseJob`. */
export const jobFields = (fields: Partial<JobRecord>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [field, documents.has(field) ? JSON.stringify(value) : String(value)]),
  );
