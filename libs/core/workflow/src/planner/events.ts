import type { RunEnd } from '@svc/lifecycle';
import type { RunError } from './run-error';
import type { StepRun } from './run-state';

/**
 * How a job ended: the wire's words without their prefix, and the quarantine.
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

/** Step runs and context entries of an earlier run that a rerun takes over. */
export interface RerunSeed {
  steps: Record<string, StepRun>;
  context: Record<string, unknown>;
}

/** What may happen to a run. Each may come twice, late or out of order: what no longer fits changes nothing. */
export type RunEvent =
  | { kind: 'start'; seed?: RerunSeed }
  | JobEnded
  | { kind: 'gateResolved'; jobId: string; approved: boolean; by?: string; role?: string; comment?: string }
  | { kind: 'gateExpired'; jobId: string }
  | { kind: 'timerFired'; timerId: string }
  | { kind: 'childStarted'; key: string; childRunId: string }
  | ChildRunEnded
  /** `id` makes a repeated signal count once; one that nobody waits for is kept for whoever will, unless `kept` is false. */
  | { kind: 'signal'; name: string; payload?: unknown; id?: string; kept?: boolean }
  /** `compensate`: undo what succeeded, as a failure would. */
  | { kind: 'cancel'; by?: string; reason?: string; compensate?: boolean }
  /** The definition was deleted. */
  | { kind: 'deleted' }
  /** Nothing happened: makes every unconfirmed action again and looks at the run's deadline. */
  | { kind: 'tick' };
