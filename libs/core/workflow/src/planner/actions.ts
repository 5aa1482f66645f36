import type { LimitFields } from '@svc/contract';
import type { RunEnd } from '@svc/lifecycle';
import type { GateRule } from '../definition/workflow';
import type { RunError } from './run-error';

/**
 * Work for the engine after the run is saved. `id` is stable: a repeated action (after a crash, at a tick) has the same id
 * and is idempotent. Confirm it by passing its id to the next pass (`acted`).
 */
export type Action =
  | DispatchJob
  | { kind: 'cancelJob'; id: string; jobId: string; reason: string }
  | OpenGate
  /** The gate's rule is met, or it expired: its job need not wait for answers any longer. */
  | { kind: 'closeGate'; id: string; jobId: string; step: string; approved: boolean }
  | { kind: 'remindGate'; id: string; jobId: string; step: string }
  | { kind: 'escalateGate'; id: string; jobId: string; step: string; role?: string }
  /** Timer ids of one run never repeat; a timer that fires late or twice has no effect. */
  | { kind: 'setTimer'; id: string; timerId: string; atMs: number }
  | { kind: 'clearTimer'; id: string; timerId: string }
  | StartChild
  | { kind: 'cancelChild'; id: string; key: string; childRunId?: string; reason: string }
  | { kind: 'notify'; id: string; step: string; alert: Alert }
  | Compensate
  /** Jobs that failed without a dead letter, and will not be retried. */
  | { kind: 'writeDeadLetters'; id: string; jobIds: readonly string[] }
  | Finished;

/** The rest of the request (meta, route labels, adapter, policy hint) is in the definition of `step`. */
export interface DispatchJob {
  kind: 'dispatchJob';
  /** `<run>:<path>@<attempt>`, the idempotency key of the submission. */
  id: string;
  jobId: string;
  step: string;
  /** The step id, or `step[2]` for an item. */
  path: string;
  attempt: number;
  topic: string;
  input: unknown;
  priority: 'CRITICAL' | 'INTERACTIVE' | 'BATCH';
  timeoutMs?: number;
  /** With evaluated keys. */
  limits?: LimitFields;
  /** A retry follows if this attempt fails, so the failure writes no dead letter. */
  retried?: boolean;
}

export interface OpenGate {
  kind: 'openGate';
  id: string;
  jobId: string;
  step: string;
  path: string;
  attempt: number;
  /** Becomes `decision` of the gate's context document. */
  input: unknown;
  rule: GateRule;
}

export interface StartChild {
  kind: 'startChild';
  id: string;
  /** Idempotency key of the child run; its start and end are reported under it. */
  key: string;
  step: string;
  workflowId: string;
  input: Record<string, unknown>;
  callStack: string[];
  /** A retry follows if the child run fails. */
  retried?: boolean;
}

export interface Alert {
  level: string;
  message: string;
  component: string;
  trace_id: string;
  details?: unknown;
}

/**
 * Compensates one step at a time, newest first. Its end is reported like that of any job.
 * See docs/reference/workflows.md#compensation.
 */
export interface Compensate {
  kind: 'compensate';
  id: string;
  jobId: string;
  idempotencyKey: string;
  step: string;
  /** Job that is compensated. */
  undoes: string;
  topic: string;
  input: unknown;
  timeoutMs: number;
}

export interface Finished {
  kind: 'finished';
  id: string;
  status: RunEnd;
  error?: RunError;
  /** Key under which the end is reported to the parent run. */
  parentKey?: string;
}
