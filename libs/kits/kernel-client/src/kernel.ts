import type {
  CandidateBundle,
  ContentFinding,
  EvaluationPart,
  PolicyDecision,
  PolicyRequest,
  RuleTrace,
} from '@svc/policy';

/** A job result to check, in wire spelling. See docs/reference/policy.md#output-policy. */
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
  /** Size of the whole body; `output_content` may be a prefix. */
  output_size_bytes: number;
  capabilities: readonly string[];
  risk_tags: readonly string[];
  principal_id: string;
  pack_id: string;
  workflow_id?: string;
  step_id?: string;
  content_hash?: string;
  content_type?: string;
  /** The body, or its first 2 MiB. Absent: the metadata phase, which checks size, error and labels only. */
  output_content?: Buffer;
}

export interface OutputVerdict {
  decision: 'ALLOW' | 'QUARANTINE' | 'REDACT';
  reason: string;
  /** Empty when no rule matched. */
  rule_id: string;
  policy_snapshot: string;
  /** Offsets are bytes of the body; findings outside the body have none. */
  findings: ContentFinding[];
  /** Metadata phase only: rules remain that require the body. */
  content_phase_needed: boolean;
  /** ... and one of them requires that the result is held until then. */
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

/** A decision and the rules evaluated for it. */
export interface ExplainedDecision extends PolicyDecision {
  /** At most 100, of `trace_total`. */
  trace: RuleTrace[];
  trace_total: number;
}

/** Differences from the policy in effect in a simulation. */
export interface PolicyTrial {
  /** Replacement text of a bundle; must be valid. */
  candidate?: CandidateBundle;
  without?: readonly EvaluationPart[];
}

export type Readiness = { ok: true } | { ok: false; reason: string };

/**
 * Decides whether jobs may run and results may leave: in this process, or in another one behind a circuit breaker. A
 * denial is a decision; an exception means that no decision was made. See docs/reference/policy.md#kernel.
 */
export interface Kernel {
  /** Called before a dispatch. Counts velocity windows; a job is counted once. */
  check(request: PolicyRequest): Promise<PolicyDecision>;
  /** Called before a job is accepted. Counts like `check`. */
  evaluate(request: PolicyRequest): Promise<PolicyDecision>;
  /** Counts nothing; the reason lists skipped rules. */
  explain(request: PolicyRequest): Promise<ExplainedDecision>;
  /** Counts nothing. */
  simulate(request: PolicyRequest, trial?: PolicyTrial): Promise<PolicyDecision>;
  /** The policy in effect first, then earlier ones, at most 10. */
  listSnapshots(): Promise<string[]>;
  checkOutput(request: OutputCheckRequest): Promise<OutputVerdict>;
  /** Whether the kernel is available, without an evaluation. */
  ready(): Readiness;
  /** State of the circuit breakers, for the status route; within this process they are always closed. */
  breakers(): Promise<BreakerStatuses>;
  close(): Promise<void>;
}
