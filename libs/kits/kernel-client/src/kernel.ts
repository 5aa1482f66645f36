import type {
  CandidateBundle,
  ContentFinding,
  EvaluationPart,
  PolicyDecision,
  PolicyRequest,
  RuleTrace,
} from '@svc/policy';

/** What a job returned, in wire spelling. See docs/reference/policy.md#output-policy. */
export interface OutputCheckRequest {
  job_id: string;
  topic: string;
  tenant: string;
  labels: Readonly<Record<string, string>>;
  result_ptr: string;
  artifact_ptrs: readonly string[];
  error_message: string;
  error_code: string;
  worker_id: string;
  execution_ms: number;
  /** Size of the whole body, of which `output_content` may hold only the beginning. */
  output_size_bytes: number;
  capabilities: readonly string[];
  risk_tags: readonly string[];
  principal_id: string;
  pack_id: string;
  workflow_id?: string;
  step_id?: string;
  content_hash?: string;
  content_type?: string;
  /** The body, or its first 2 MiB. Absent: the metadata phase, which looks at size, error and labels only. */
  output_content?: Buffer;
}

export interface OutputVerdict {
  decision: 'ALLOW' | 'QUARANTINE' | 'REDACT';
  reason: string;
  /** Empty when no rule decided. */
  rule_id: string;
  policy_snapshot: string;
  /** Offsets are bytes of the body; what was found elsewhere has none. */
  findings: ContentFinding[];
  /** Metadata phase only: rules are left that have to look into the body. */
  content_phase_needed: boolean;
  /** ... and one of them asks that the result is not released before. */
  hold: boolean;
}

export interface BreakerStatus {
  state: 'closed' | 'open' | 'half_open';
  failures: number;
  fail_threshold: number;
  /** 0 when it is not open. */
  cooldown_remaining_ms: number;
}
export interface BreakerStatuses {
  input: BreakerStatus;
  output: BreakerStatus;
}

/** A decision and the rules that were looked at for it. */
export interface ExplainedDecision extends PolicyDecision {
  /** At most 100, of `trace_total`. */
  trace: RuleTrace[];
  trace_total: number;
}

/** What is otherwise than in force when something is simulated. */
export interface PolicyTrial {
  /** A text in the place of a bundle; it must have been found valid before. */
  candidate?: CandidateBundle;
  without?: readonly EvaluationPart[];
}

export type Readiness = { ok: true } | { ok: false; reason: string };

/**
 * Decides whether jobs may run and results may leave: in this process, or in another one behind a circuit breaker. A
 * denial is an answer; what is thrown means that no answer came. See docs/reference/policy.md#kernel.
 */
export interface Kernel {
  /** Before a job is handed out; counts velocity windows, a job asked about twice once. */
  check(request: PolicyRequest): Promise<PolicyDecision>;
  /** Before a job is accepted; counts as `check` does. */
  evaluate(request: PolicyRequest): Promise<PolicyDecision>;
  /** Counts nothing; the reason says which rules were passed over. */
  explain(request: PolicyRequest): Promise<ExplainedDecision>;
  /** Counts nothing. */
  simulate(request: PolicyRequest, trial?: PolicyTrial): Promise<PolicyDecision>;
  /** The policy in force first, then those before it, at most 10. */
  listSnapshots(): Promise<string[]>;
  checkOutput(request: OutputCheckRequest): Promise<OutputVerdict>;
  /** Whether a question would be answered now, without asking one. */
  ready(): Readiness;
  /** State of the circuit breakers, for the status route; within this process they are always closed. */
  breakers(): Promise<BreakerStatuses>;
  close(): Promise<void>;
}
