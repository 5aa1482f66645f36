import type { RunEnd } from '@svc/lifecycle';
import type { RunError } from './run-error';
import type { StepRun } from './run-state';

/**
 * End of a job: the wire values without their prefix, plus quarantine.
 * See docs/reference/workflows.md#retries.
 */
export type JobEnd =
  | 'SUCCEEDED'
  | 'FAILED'
  | 'FAILED_RETRYABLE'
  | 'FAILED_FATAL'
  | 'TIMEOUT'
  | 'DENIED'
  | 'CANCELLED'
  | 'OUTPUT_QUARANTINED';

export interface JobEnded {
  kind: 'jobEnded';
  jobId: string;
  status: JobEnd;
  /** The body behind the pointer when it is JSON of at most 256 KiB. */
  output?: unknown;
  resultPtr?: string;
  error?: string;
  code?: string;
  /** SUCCEEDED without a job of its own: the open job of its singleton key, which the step does not wait for. */
  openJob?: OpenJob;
}

/** A job that answers a submission with its singleton key. */
export interface OpenJob {
  job_id: string;
  trace_id: string;
}

export interface ChildRunEnded {
  kind: 'childRunEnded';
  /** Of the action that started it. A child that could not be started is reported as failed. */
  key: string;
  childRunId: string;
  status: RunEnd;
  input?: unknown;
  output?: unknown;
  ctx?: unknown;
  steps?: unknown;
  error?: RunError;
  /** Jobs of the child run whose dead letters wait for its parent. */
  letters?: string[];
}

/** Steps and context entries of an earlier run that a rerun copies. */
export interface RerunSeed {
  steps: Record<string, StepRun>;
  context: Record<string, unknown>;
}

/** Events of a run. Each may arrive twice, late or out of order: stale events have no effect. */
export type RunEvent =
  | { kind: 'start'; seed?: RerunSeed }
  | JobEnded
  | { kind: 'gateResolved'; jobId: string; approved: boolean; by?: string; role?: string; comment?: string }
  | { kind: 'gateExpired'; jobId: string }
  | { kind: 'timerFired'; timerId: string }
  | { kind: 'childStarted'; key: string; childRunId: string }
  | ChildRunEnded
  /** `id` deduplicates signals; an undelivered signal is kept for a later step unless `kept` is false. */
  | { kind: 'signal'; name: string; payload?: unknown; id?: string; kept?: boolean }
  /** `compensate`: compensate finished steps, as a failure would. */
  | { kind: 'cancel'; by?: string; reason?: string; compensate?: boolean }
  /** The definition was deleted. */
  | { kind: 'deleted' }
  /** Begins what the last plan had no room for. */
  | { kind: 'continue' }
  /** Emits every unconfirmed action again and checks the run's deadline. */
  | { kind: 'tick' };
