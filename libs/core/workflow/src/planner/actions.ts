import type { RunEnd } from '@svc/lifecycle';
import type { GateRule } from '../definition/workflow';
import type { RunError } from './run-error';

/**
 * What the engine must do once the run is saved. `id` is stable: an action made again (after a crash, at a tick) has the
 * same id and the same effect, so doing it twice is harmless. Confirm it by handing its id to the next pass (`acted`).
 */
export type Action =
  | DispatchJob
  | { kind: 'cancelJob'; id: string; jobId: string; reason: string }
  | OpenGate
  /** The gate's rule is met, or it is over without people: whatever still waits for an answer need not. */
  | { kind: 'closeGate'; id: string; jobId: string; step: string; approved: boolean }
  | { kind: 'remindGate'; id: string; jobId: string; step: string }
  | { kind: 'escalateGate'; id: string; jobId: string; step: string; role?: string }
  /** Timer ids of one run never repeat; a timer that fires late or twice changes nothing. */
  | { kind: 'setTimer'; id: string; timerId: string; atMs: number }
  | { kind: 'clearTimer'; id: string; timerId: string }
  | StartChild
  | { kind: 'cancelChild'; id: string; key: string; childRunId?: string; reason: string }
  | { kind: 'notify'; id: string; step: string; alert: Alert }
  | Compensate
  /** Jobs that failed without a dead letter, and that nothing retries any more. */
  | { kind: 'writeDeadLetters'; id: string; jobIds: readonly string[] }
  | Finished;

/** The rest of the request (meta, route labels, adapter, policy hint) stands in the definition of `step`. */
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
  /** Another attempt follows should this one fail, so the failure writes no dead letter. */
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
  /** Idempotency key of the child run, and what its start and end are reported under. */
  key: string;
  step: string;
  workflowId: string;
  input: Record<string, unknown>;
  callStack: string[];
  /** Another attempt follows should the child run fail. */
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
 * One undone step at a time, newest first. Its end is reported as any job's.
 * See docs/reference/workflows.md#compensation.
 */
export interface Compensate {
  kind: 'compensate';
  id: string;
  jobId: string;
  idempotencyKey: string;
  step: string;
  /** Job that is undone. */
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
  /** Key under which the parent run hears of it. */
  parentKey?: string;
}
