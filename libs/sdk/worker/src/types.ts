import type { ConnectionOptions } from 'nats';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Limits that policy sets for a job; the handler must apply them. See docs/reference/policy.md#kernel. */
export interface JobConstraints {
  budgets?: { maxRuntimeMs?: number; maxRetries?: number; maxArtifactBytes?: number; maxConcurrentJobs?: number };
  sandbox?: { isolated?: boolean; networkAllowlist?: string[]; fsReadOnly?: string[]; fsReadWrite?: string[] };
  toolchain?: { allowedTools?: string[]; allowedCommands?: string[] };
  diff?: { maxFiles?: number; maxLines?: number; denyPathGlobs?: string[] };
  redactionLevel?: string;
}

/** A dispatch of a job, passed to a handler. */
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
  /** The handler must have no side effects. */
  readonly isDryRun: boolean;
  /** Deadline of the job. */
  readonly deadline: Date | undefined;
  /** Aborted when the job must stop; `reason` is a JobAborted. */
  readonly signal: AbortSignal;
  readonly adapterId: string;
  readonly memoryId: string;
  readonly parentJobId: string;
  readonly workflowId: string;
  readonly principalId: string;
  /** Reports progress. Sends at most one report per second, and always the last one. */
  progress(percent: number, message?: string): void;
  /** Writes a log line of the job, which its readers see at once; default level `info`. At most 2,000 characters are kept. */
  log(message: string, level?: LogLevel): void;
  /** Shows the next part of the output to readers before the job ends, such as tokens of a model. The result is unaffected. */
  stream(text: string): void;
  /**
   * Reports the cost of the job in US dollars; calls add up, and failed jobs count too. Without a report the estimate
   * counts. @throws RangeError for an invalid amount
   */
  cost(usd: number): void;
  /**
   * Makes a side effect at most once for all attempts of the job, and returns its result, also when an earlier attempt made
   * it. The result must be JSON of at most 16 KiB. `key` names the effect within the job. See docs/reference/effects.md.
   *
   * @throws FatalError `outcome_unknown` when an earlier attempt may have made it; RetryableError when it cannot be recorded
   */
  effect<T>(key: string, make: () => T | Promise<T>): Promise<Awaited<T>>;
  /** Stores a file of the job and lists it in the result. @returns its pointer */
  saveArtifact(bytes: Uint8Array, options?: ArtifactOptions): Promise<string>;
}

export interface ArtifactOptions {
  contentType?: string;
  /** Kept 24 hours, 7 days or 30 days; default `standard`. */
  retention?: 'short' | 'standard' | 'audit';
  labels?: Record<string, string>;
}

/** Handles the jobs of a topic. The return value is the result: bytes as is, anything else as JSON. */
export type JobHandler = (job: Job) => unknown;

/** Which dispatches the worker starts, by the grants that the services sign. See docs/reference/worker-protocol.md#grants. */
export interface GrantOptions {
  /** Ed25519 public keys (PEM) of the services; several during a rotation. Default: those in SVC_GRANT_PUBLIC_KEYS. */
  keys?: readonly string[];
  /**
   * `enforce` refuses a dispatch without the grant that it needs, and any invalid grant; `warn` reports it and runs the job.
   * Default: WORKER_GRANTS, else `enforce` with keys and `off` without.
   */
  mode?: 'off' | 'warn' | 'enforce';
  /** `all` dispatches need a grant (default), or those of `approvalTopics` and those that say that they were approved. */
  require?: 'all' | 'approved';
  /** Topics whose jobs run only after people approved them, whatever policy permits; `*` and `>` as in `topics`. */
  approvalTopics?: readonly string[];
}

export interface WorkerOptions {
  /** Stable across restarts. Default: WORKER_ID, else `<type>-<host name>`. Letters, digits, `_` and `-`. */
  id?: string;
  /** Default: SVC_POOL, else `default`. */
  pool?: string;
  /** Handlers by topic; `*` stands for one token of a topic, `>` for the rest. */
  topics: Readonly<Record<string, JobHandler>>;
  /** Maximum concurrent jobs; default 1. */
  concurrency?: number;
  /**
   * May contain user and password, which are used when `nats` has no credentials. Without either, the worker connects with
   * its id and `authToken`. Default: NATS_URL, else nats://localhost:4222.
   */
  natsUrl?: string;
  /**
   * Default: REDIS_URL. Without either, inputs, results and artifacts go through the data URLs of each dispatch; a dispatch
   * without them uses redis://localhost:6379. `authToken` is the password of a user without one, as in
   * `redis://worker-<id>@host`.
   */
  redisUrl?: string;
  /** Further connection options: TLS, credentials, server lists. */
  nats?: ConnectionOptions;
  /** Queue group of the topic subjects, shared by the pool; default: one group per subject. */
  queueGroup?: string;
  /** Capabilities that jobs can require. */
  capabilities?: readonly string[];
  /** Placement labels. */
  labels?: Readonly<Record<string, string>>;
  /** Informational, such as `cpu`, `gpu` or `llm`; default `cpu`. */
  type?: string;
  region?: string;
  /** Display name. */
  agentName?: string;
  /** The worker's credential, when the deployment attests its workers. Default: WORKER_TOKEN. */
  authToken?: string;
  /** P-256 private key (PEM) with which the worker signs its packets. Default: WORKER_SIGNING_KEY. */
  signingKey?: string;
  /**
   * P-256 public keys (PEM) of the services. When given, dispatches and cancels without a valid signature of one of them are
   * refused. Default: those in SVC_SERVICE_PUBLIC_KEYS, one after the other.
   */
  serviceKeys?: readonly string[];
  grants?: GrantOptions;
  /**
   * Requests the URL that `job.effect` needs also with a Redis URL; default off. Without a Redis URL each dispatch has it, where
   * the installation has data URLs.
   */
  effects?: boolean;
  /**
   * Gets a session when both `signingKey` and `serviceKeys` are given; default on. Off where the services have no sessions.
   */
  sessions?: boolean;
  /** Prefix of the domains of the handshake, as in SVC_HANDSHAKE_DOMAIN_PREFIX of the services; default SVC. */
  handshakeDomainPrefix?: string;
  heartbeatMs?: number;
  /** Grace period for aborted jobs and for shutdown; default 10 s. */
  graceMs?: number;
  /** Ack wait, after which a message without renewal is redelivered; default 60 s. */
  ackWaitMs?: number;
  /** Deliveries of a dispatch after which it ends FAILED_FATAL without a run; default 5. */
  maxDeliveries?: number;
  /** Retention of results; default 24 h. */
  resultTtlSec?: number;
  /** Off: core NATS, without redelivery. Default: on unless NATS_USE_JETSTREAM is 0 or false. */
  jetstream?: boolean;
  /** Signals on which the worker drains and stops; default SIGTERM and SIGINT. */
  signals?: readonly NodeJS.Signals[];
  /** Called for failures that are not part of a job's result; default: writes to standard error. */
  onError?(error: unknown, where: string): void;
}

/** A worker. Start and stop it once. */
export interface Worker {
  readonly id: string;
  /** Connects, subscribes, and then announces the worker, so that no dispatch is missed. */
  start(): Promise<void>;
  /**
   * Accepts no more jobs, lets running ones finish within the grace period, ends the rest FAILED_RETRYABLE, and disconnects.
   * Does not exit the process.
   */
  stop(): Promise<void>;
}
