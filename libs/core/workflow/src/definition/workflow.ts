/** Every kind of step. See docs/reference/workflows.md#steps. */
export const stepTypes = [
  'worker', 'llm', 'http', 'container', 'script', 'input', 'approval', 'condition', 'switch', 'delay', 'notify',
  'transform', 'storage', 'parallel', 'loop', 'subworkflow', 'signal',
] as const; // prettier-ignore
export type StepType = (typeof stepTypes)[number];

/** Kinds that become a job of a worker. */
export const jobStepTypes = ['worker', 'llm', 'http', 'container', 'script', 'input'] as const satisfies StepType[];

/** The kind of a step: a worker's job unless it says otherwise. See docs/reference/workflows.md#definitions. */
export const getStepType = (step: Pick<StepDefinition, 'type'>): StepType => step.type ?? 'worker';
export const isJobType = (type: StepType): boolean => (jobStepTypes as readonly string[]).includes(type);

/** Tries after a failure. Times in seconds; absent = the defaults. See docs/reference/workflows.md#retries. */
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

/** How a finished step is undone when the run fails for good. */
export interface Compensation {
  /** `job.` is put in front when it is missing. */
  topic: string;
  input?: Record<string, unknown>;
  timeout_sec?: number;
  adapter_id?: string;
  memory_id?: string;
  env?: Record<string, string>;
  labels?: Record<string, string>;
  meta?: StepMeta;
}

/** Rules of an approval gate beyond those of policy. */
export interface GateRule {
  /** After this time the gate ends by itself. */
  expires_sec?: number;
  on_expiry?: 'reject' | 'approve' | 'escalate';
  remind_sec?: number;
  /** Role that may decide as well once the gate has waited for so long. */
  escalate_to?: string;
  escalate_after_sec?: number;
  /** Approvals of different people that it takes; 1 when absent. */
  quorum?: number;
  /** Older spelling of `exclude_starter` of the step; true has the same meaning, false none. */
  deny_requester?: boolean;
}

/**
 * One step as it is stored; its id is the key it has in `steps`. For the fields of each kind see
 * docs/reference/workflows.md#steps. Strings of `input` may hold templates.
 */
export interface StepDefinition {
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

/** Whether an approval step keeps the starter of the run from resolving it. */
export const excludesStarter = ({ exclude_starter, gate }: StepDefinition): boolean =>
  exclude_starter === true || gate?.deny_requester === true;

/** A definition as it is stored; what the server sets is not part of it. */
export interface WorkflowDefinition {
  id: string;
  org_id: string;
  team_id?: string;
  name: string;
  description?: string;
  version?: string;
  /** 0 = as the timeouts file says. */
  timeout_sec: number;
  input_schema?: Record<string, unknown>;
  parameters?: WorkflowParameter[];
  config?: Record<string, unknown>;
  policy_override?: string;
  /** Templates that make the run's output; absent = the outputs of the steps that nothing depends on. */
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

/** One thing that is wrong with a definition: where (`steps.weigh.depends_on[1]`), and what to do about it. */
export interface DefinitionFault {
  path: string;
  message: string;
  /** Where in an expression, counted from 1; `message` says it too. */
  line?: number;
  column?: number;
}
