import type { ConnectionOptions } from 'nats';

/** Limits that policy puts on a job; the handler honours them. See docs/reference/policy.md#kernel. */
export interface JobConstraints {
  budgets?: { maxRuntimeMs?: number; maxRetries?: number; maxArtifactBytes?: number; maxConcurrentJobs?: number };
  sandbox?: { isolated?: boolean; networkAllowlist?: string[]; fsReadOnly?: string[]; fsReadWrite?: string[] };
  toolchain?: { allowedTools?: string[]; allowedCommands?: string[] };
  diff?: { maxFiles?: number; maxLines?: number; denyPathGlobs?: string[] };
  redactionLevel?: string;
}

/** One dispatch of one job, in a handler's hands. */
export interface Job {
  readonly jobId: string;
  readonly topic: string;
  readonly tenant: string;
  readonly traceId: string;
  /** The input document, parsed; undefined when the job has none, or one behind a pointer of another scheme. */
  readonly input: unknown;
  readonly contextPtr: string;
  /** `input.prompt` when it is text. */
  readonly prompt: string;
  /** `input.context`; the whole input when it has no such field. */
  readonly context: unknown;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** From 1; 0 when the platform does not count. */
  readonly attempt: number;
  readonly dispatchId: string;
  readonly constraints: JobConstraints;
  /** No side effects are wanted. */
  readonly isDryRun: boolean;
  /** When the job must have ended. */
  readonly deadline: Date | undefined;
  /** Aborted when the job must stop; `reason` is a JobAborted. */
  readonly signal: AbortSignal;
  readonly adapterId: string;
  readonly memoryId: string;
  readonly parentJobId: string;
  readonly workflowId: string;
  readonly principalId: string;
  /** Reports how far the work is. At most one report a second is sent, and the last one always. */
  progress(percent: number, message?: string): void;
  /**
   * Reports what the work cost, US dollars; several calls add up, and failed work costs too. What is never reported counts as
   * it was estimated. @throws RangeError for what is no amount
   */
  cost(usd: number): void;
  /** Stores a file of the job and lists it in the result. @returns its pointer */
  saveArtifact(bytes: Uint8Array, options?: ArtifactOptions): Promise<string>;
}

export interface ArtifactOptions {
  contentType?: string;
  /** Kept 24 hours, 7 days or 30 days; default `standard`. */
  retention?: 'short' | 'standard' | 'audit';
  labels?: Record<string, string>;
}

/** Does the work of one topic. What it returns is the result: bytes as they are, anything else as JSON. */
export type JobHandler = (job: Job) => unknown;

export interface WorkerOptions {
  /** Stable across restarts. Default: WORKER_ID, else `<type>-<host name>`. Letters, digits, `_` and `-`. */
  id?: string;
  /** Default: SVC_POOL, else `default`. */
  pool?: string;
  /** Handlers by topic; `*` stands for one token of a topic, `>` for the rest. */
  topics: Readonly<Record<string, JobHandler>>;
  /** Jobs at once; default 1. */
  concurrency?: number;
  /** May contain user and password, which count where `nats` has no credentials. Default: NATS_URL, else nats://localhost:4222. */
  natsUrl?: string;
  /**
   * Default: REDIS_URL. Without either, inputs, results and artifacts go through the data URLs of each dispatch; a dispatch
   * without them uses redis://localhost:6379.
   */
  redisUrl?: string;
  /** Anything else of the connection: TLS, credentials, server lists. */
  nats?: ConnectionOptions;
  /** Queue group of the topic subjects, when the pool agreed on one; default: each subject is its own group. */
  queueGroup?: string;
  /** What jobs may require of this worker. */
  capabilities?: readonly string[];
  /** Placement labels. */
  labels?: Readonly<Record<string, string>>;
  /** Informational, such as `cpu`, `gpu` or `llm`; default `cpu`. */
  type?: string;
  region?: string;
  /** Display name. */
  agentName?: string;
  /** The worker's credential, when the deployment attests its workers. */
  authToken?: string;
  heartbeatMs?: number;
  /** How long an aborted job may take to stop, and a stopping worker to finish; default 10 s. */
  graceMs?: number;
  /** How long a message may go without a sign of life before it is delivered again; default 60 s. */
  ackWaitMs?: number;
  /** Deliveries of one dispatch after which it is answered FAILED_FATAL unrun; default 5. */
  maxDeliveries?: number;
  /** How long results stay in the store; default 24 h. */
  resultTtlSec?: number;
  /** Off: core NATS, without redelivery. Default: on unless NATS_USE_JETSTREAM is 0 or false. */
  jetstream?: boolean;
  /** Signals on which the worker drains and stops; default SIGTERM and SIGINT. */
  signals?: readonly NodeJS.Signals[];
  /** Told of failures that no job's result carries; default: written to standard error. */
  onError?(error: unknown, where: string): void;
}

/** A worker: started once, stopped once. */
export interface Worker {
  readonly id: string;
  /** Connects, subscribes, and announces the worker once nothing sent to it can be missed. */
  start(): Promise<void>;
  /**
   * Takes no more jobs, lets what runs finish within the grace, answers the rest FAILED_RETRYABLE, and disconnects. The
   * process ends by itself when nothing else keeps it.
   */
  stop(): Promise<void>;
}
