import type { ConcurrencyField, DebounceField, RateField, SingletonField } from '@svc/contract';

/** Every kind of step. See docs/reference/workflows.md#steps. */
export const stepTypes = [
  'worker', 'llm', 'http', 'container', 'script', 'input', 'approval', 'condition', 'switch', 'delay', 'notify',
  'transform', 'storage', 'parallel', 'loop', 'subworkflow', 'signal',
] as const; // prettier-ignore
export type StepType = (typeof stepTypes)[number];

/** Kinds that run as a job on a worker. */
export const jobStepTypes = ['worker', 'llm', 'http', 'container', 'script', 'input'] as const satisfies StepType[];

/** The kind of a step, by default a worker job. See docs/reference/workflows.md#definitions. */
export const getStepType = (step: Pick<StepDefinition, 'type'>): StepType => step.type ?? 'worker';
export const isJobType = (type: StepType): boolean => (jobStepTypes as readonly string[]).includes(type);

/** Retries after a failure. Times in seconds; absent = the defaults. See docs/reference/workflows.md#retries. */
export interface RetryRule {
  max_retries?: number;
  initial_backoff_sec?: number;
  max_backoff_sec?: number;
  multiplier?: number;
}

/** Metadata of the job of a step. */
export interface StepMeta {
  actor_id?: string;
  actor_type?: 'human' | 'service';
  idempotency_key?: string;
  pack_id?: string;
  capability?: string;
  risk_tags?: string[];
  requires?: string[];
  labels?: Record<string, string>;
}

/** Compensation of a finished step when the run fails permanently. */
export interface Compensation {
  /** The prefix `job.` is added when it is missing. */
  topic: string;
  input?: Record<string, unknown>;
  timeout_sec?: number;
  adapter_id?: string;
  memory_id?: string;
  env?: Record<string, string>;
  labels?: Record<string, string>;
  meta?: StepMeta;
}

/**
 * Limits by key of the job of a step; keys may contain templates. Absent strategy and mode are those of a submission.
 * See docs/reference/routing.md#limits-by-key.
 */
export interface StepLimits {
  concurrency?: Pick<ConcurrencyField, 'key' | 'limit'> & Partial<ConcurrencyField>;
  rate?: RateField;
  debounce?: DebounceField;
  singleton?: Pick<SingletonField, 'key'> & Partial<SingletonField>;
}

/** Rules of an approval gate beyond those of policy. */
export interface GateRule {
  /** Time after which the gate expires. */
  expires_sec?: number;
  on_expiry?: 'reject' | 'approve' | 'escalate';
  remind_sec?: number;
  /** Additional role that may decide after `escalate_after_sec`. */
  escalate_to?: string;
  escalate_after_sec?: number;
  /** Required number of approvals by different people; default 1. */
  quorum?: number;
  /** Older spelling of `exclude_starter` of the step; true has the same meaning, false none. */
  deny_requester?: boolean;
}

/**
 * One step as stored; its id is its key in `steps`. For the fields of each kind see
 * docs/reference/workflows.md#steps. Strings of `input` may contain templates.
 */
export interface StepDefinition extends StepLimits {
  name?: string;
  type?: StepType;
  depends_on?: string[];
  /** `any`: it may start when at least one dependency succeeded and all have ended. Absent = all. */
  join?: 'all' | 'any';
  condition?: string;
  for_each?: string;
  max_parallel?: number;
  fail_fast?: boolean;
  worker_id?: string;
  topic?: string;
  input?: Record<string, unknown>;
  input_schema?: Record<string, unknown>;
  input_schema_id?: string;
  result_data_path?: string;
  output_path?: string;
  output_schema?: Record<string, unknown>;
  output_schema_id?: string;
  meta?: StepMeta;
  route_labels?: Record<string, string>;
  retry?: RetryRule;
  timeout_sec?: number;
  delay_sec?: number;
  delay_until?: string;
  on_error?: string;
  policy_gate?: 'allow' | 'deny' | 'require_approval';
  compensation?: Compensation;
  gate?: GateRule;
  /** The starter of the run may not resolve this approval step. */
  exclude_starter?: boolean;
  /** Name of the signal that a `signal` step waits for; the step's own id when absent. */
  signal?: string;
  mock_output?: unknown;
}

/** Whether the starter of the run may not resolve an approval step. */
export const excludesStarter = ({ exclude_starter, gate }: StepDefinition): boolean =>
  exclude_starter === true || gate?.deny_requester === true;

/** A definition as stored, without fields set by the server. */
export interface WorkflowDefinition {
  id: string;
  org_id: string;
  team_id?: string;
  name: string;
  description?: string;
  version?: string;
  /** 0 = the value of the timeouts file. */
  timeout_sec: number;
  input_schema?: Record<string, unknown>;
  parameters?: WorkflowParameter[];
  config?: Record<string, unknown>;
  policy_override?: string;
  /** Templates of the run's output; absent = the outputs of the steps without dependents. */
  output?: unknown;
  on_failure?: 'cancel_siblings' | 'finish_siblings';
  steps: Record<string, StepDefinition>;
}

export interface WorkflowParameter {
  name: string;
  type?: string;
  default?: unknown;
  required?: boolean;
  description?: string;
}

/** One fault of a definition: its path (`steps.weigh.depends_on[1]`), and a message with the remedy. */
export interface DefinitionFault {
  path: string;
  message: string;
  /** Position in an expression, counted from 1; also part of `message`. */
  line?: number;
  column?: number;
}
