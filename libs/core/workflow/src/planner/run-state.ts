import type { LimitFields } from '@svc/contract';
import type { RunEnd, RunStatus, StepStatus } from '@svc/lifecycle';
import type { Action } from './actions';
import type { RunError } from './run-error';

/** How dependents see the end of a step: they may begin, it does not count, or it failed for good. */
export type Settlement = 'ok' | 'neutral' | 'bad';

/** `error` in the input of an error handler. See docs/reference/workflows.md#retries. */
export interface HandledError extends RunError {
  step_id: string;
  attempts: number;
}

/** One answer to a gate that takes several. */
export interface GateAnswer {
  by?: string;
  role?: string;
  comment?: string;
}

export interface GateRun {
  approvals: GateAnswer[];
  /** Reminders sent so far. */
  reminders: number;
  /** Role that may decide as well, once the gate was escalated. */
  escalated_to?: string;
}

/** Progress of the children of a step: items of a fan-out, children of a parallel, rounds of a loop. */
export interface Progress {
  /** Number begun. */
  begun: number;
  /** Number begun and not ended, including those waiting for a retry. */
  live: number;
  ok: number;
  bad: number;
}

/**
 * State of one step of a run; items of a fan-out and rounds of a loop have such a record too, in `children`. Times in
 * unix ms.
 */
export interface StepRun {
  status: StepStatus;
  /** Number of the newest attempt, over all rounds of a loop: results of any other are ignored. */
  attempts: number;
  /** Attempts since the step was last reset; counted by the retry rule. */
  tries: number;
  started_at_ms?: number;
  completed_at_ms?: number;
  next_attempt_at_ms?: number;
  /** Input of the job, gate or child run. Dropped from ended items of a fan-out: it follows from item and template. */
  input?: unknown;
  /** Limits by key of its job, with evaluated keys. Dropped as its input is. */
  limits?: LimitFields;
  /** Absent for a fan-out: see {@link outputOf}. */
  output?: unknown;
  result_ptr?: string;
  error?: RunError;
  job_id?: string;
  /** A retry follows if this attempt fails. */
  retried?: boolean;
  /** Jobs of the child run that failed, until another child run replaces it: their dead letters are not written yet. */
  letters?: string[];
  child_run_id?: string;
  gate?: GateRun;
  /** A job, gate or child run was requested and has not answered. */
  open?: boolean;
  /** Purposes of the timers that are set. */
  timers?: string[];
  children?: StepRun[];
  resolved_items?: unknown[];
  progress?: Progress;
  /** Waits in {@link RunState.ready} for a free slot. */
  queued?: boolean;
  /** Holds one of the run's job slots. */
  slot?: boolean;
  skip_reason?: string;
  /** Dependencies that are not settled yet. */
  open_deps?: number;
  /** Absent until dependents may proceed; a failed step is settled once its handler is. */
  settled?: Settlement;
  /** The error that an error handler handles. */
  handles?: HandledError;
  /** It was compensated, or compensation was attempted: a rerun must not build on it. */
  compensated?: boolean;
}

/** A finished step to compensate if the run fails. Newest last. */
export interface UndoEntry {
  /** Step, or item of a fan-out. */
  path: string;
  job_id: string;
  topic: string;
  input?: unknown;
  timeout_sec?: number;
}

/** A decided end in progress: cancelled jobs may still answer, and finished steps are compensated. */
export interface RunEnding {
  status: RunEnd;
  error?: RunError;
  /** Wait for the answers of cancelled jobs: one that still succeeded must be compensated too. */
  awaits_cancels: boolean;
  /** A timer that ends this wait is set. */
  has_timer?: boolean;
  compensates: boolean;
  /** Job of the compensation under way. */
  undoing?: string;
}

/** An action in the outbox: the action itself, or the step whose record it can be rebuilt from. */
export type OutboxEntry = { of: 'step'; path: string } | { of: 'run'; action: Action };

/**
 * A run as it is stored: plain JSON. Everything a pass needs is in here and in the
 * definition, so any process can continue it. Times in unix ms.
 */
export interface RunState {
  id: string;
  workflow_id: string;
  workflow_revision?: number;
  org_id: string;
  team_id?: string;
  triggered_by?: string;
  input: Record<string, unknown>;
  /** Entries that steps wrote by `output_path` and `storage`. `ctx.steps` is not stored: it is derived from `steps`. */
  context: Record<string, unknown>;
  labels?: Record<string, string>;
  metadata?: Record<string, string>;
  idempotency_key?: string;
  dry_run?: boolean;
  rerun_of?: string;
  rerun_step?: string;
  /** Set on a child run: parent run and step, and the key under which its end is reported. */
  parent?: { run_id: string; step_id: string; key: string };
  /** Set on a child run that its parent retries if it fails. */
  retried?: boolean;
  /** Jobs that failed without a dead letter in a run that is retried itself. */
  letters?: string[];
  /** Workflows above this run, outermost first; its own is not among them. */
  call_stack?: string[];

  status: RunStatus;
  created_at_ms: number;
  updated_at_ms: number;
  started_at_ms?: number;
  completed_at_ms?: number;
  deadline_ms?: number;
  output?: unknown;
  error?: RunError;

  /** By step id. Steps owned by a composite appear once begun. */
  steps: Record<string, StepRun>;
  /** Paths that wait for a job slot, first come first served. */
  ready: string[];
  /** Live leaf steps: job slots in use, running or waiting for a retry, waiting for people or signals. */
  counts: { jobs: number; busy: number; waiting: number };
  /** First unrecovered end of each kind: the run ends with the most severe. */
  failures?: { failed?: RunError; denied?: RunError; timed_out?: RunError };
  ending?: RunEnding;
  undo: UndoEntry[];
  /** Job id, or key of a child run → path: cancelled, not yet answered. */
  cancels: Record<string, string>;
  /** Undelivered signals, oldest first. */
  signals: { name: string; payload?: unknown }[];
  /** Ids of the newest signals, so that one sent twice counts once. */
  signal_ids: string[];
  /** Actions not yet confirmed, by their id. */
  outbox: Record<string, OutboxEntry>;
  /** Bytes of results that are kept with the run; the engine counts them. */
  kept_bytes?: number;
  /** When its revision was written, µs: distinguishes a recreated workflow that has the same revision number. */
  workflow_written_at?: number;
}
