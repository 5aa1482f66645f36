import type { RunEnd, RunStatus, StepStatus } from '@svc/lifecycle';
import type { Action } from './actions';
import type { RunError } from './run-error';

/** How those who depend on a step see its end: they may go on, it does not count, or it failed for good. */
export type Settlement = 'ok' | 'neutral' | 'bad';

/** What an error handler is told: the `error` of its input. See docs/reference/workflows.md#retries. */
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

/** How far the children of a step are: items of a fan-out, children of a parallel, rounds of a loop. */
export interface Progress {
  /** How many were begun. */
  begun: number;
  /** How many are begun and have not ended; one that waits for its retry counts. */
  live: number;
  ok: number;
  bad: number;
}

/**
 * How far one step of a run is; items of a fan-out and rounds of a loop have such a record too, in `children`. Times in
 * unix ms.
 */
export interface StepRun {
  status: StepStatus;
  /** Number of the newest attempt, over all rounds of a loop: results of any other are ignored. */
  attempts: number;
  /** Attempts since the step was last begun afresh; what the retry rule counts. */
  tries: number;
  started_at_ms?: number;
  completed_at_ms?: number;
  next_attempt_at_ms?: number;
  /** What the job, gate or child run was given. Dropped from items of a fan-out when they end: item and template tell. */
  input?: unknown;
  /** Absent for a fan-out: see {@link outputOf}. */
  output?: unknown;
  result_ptr?: string;
  error?: RunError;
  job_id?: string;
  /** Another attempt follows should this one fail. */
  retried?: boolean;
  /** Jobs of the child run that failed, until another child run replaces it: their dead letters are not written yet. */
  letters?: string[];
  child_run_id?: string;
  gate?: GateRun;
  /** A job, gate or child run was asked for and has not been answered. */
  open?: boolean;
  /** Timers that are set, by what they are for. */
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
  /** Absent until those who depend on the step may look at it; a failed step is settled once its handler is. */
  settled?: Settlement;
  /** Why an error handler runs. */
  handles?: HandledError;
  /** Its effect was undone, or should have been: no later run may build on it. */
  compensated?: boolean;
}

/** A finished step that must be undone should the run fail. Newest last. */
export interface UndoEntry {
  /** Step, or item of a fan-out. */
  path: string;
  job_id: string;
  topic: string;
  input?: unknown;
  timeout_sec?: number;
}

/** Decided but not over: jobs that were told to stop may still answer, and finished steps are undone. */
export interface Ending {
  status: RunEnd;
  error?: RunError;
  /** Wait until the jobs that were told to stop have answered: one that succeeded all the same must be undone too. */
  awaits_cancels: boolean;
  /** A timer is set after which that is no longer waited for. */
  has_timer?: boolean;
  compensates: boolean;
  /** Job of the compensation under way. */
  undoing?: string;
}

/** What an action in the outbox needs to be made again: itself, or the step whose record tells the rest. */
export type Unconfirmed = { of: 'step'; path: string } | { of: 'run'; action: Action };

/**
 * A run as it is stored: plain JSON. Everything a pass needs is in here and in the
 * definition, so any process can go on with it. Times in unix ms.
 */
export interface RunState {
  id: string;
  workflow_id: string;
  workflow_revision?: number;
  org_id: string;
  team_id?: string;
  triggered_by?: string;
  input: Record<string, unknown>;
  /** What steps have written by `output_path` and `storage`. `ctx.steps` is not stored: it is read off `steps`. */
  context: Record<string, unknown>;
  labels?: Record<string, string>;
  metadata?: Record<string, string>;
  idempotency_key?: string;
  dry_run?: boolean;
  rerun_of?: string;
  rerun_step?: string;
  /** Set on a child run: what its end is reported under. */
  parent?: { run_id: string; step_id: string; key: string };
  /** Set on a child run whose parent starts another one should it fail. */
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

  /** By step id. Steps owned by a composite appear once they were begun. */
  steps: Record<string, StepRun>;
  /** Paths that wait for a job slot, first come first served. */
  ready: string[];
  /** Live leaves: job slots taken, whatever runs or waits for its retry, whatever waits for people or signals. */
  counts: { jobs: number; busy: number; waiting: number };
  /** First unrecovered end of each kind: the run ends with the gravest. */
  failures?: { failed?: RunError; denied?: RunError; timed_out?: RunError };
  ending?: Ending;
  undo: UndoEntry[];
  /** Job id, or key of a child run → path: told to stop, not yet answered. */
  cancels: Record<string, string>;
  /** Signals nobody waited for yet, oldest first. */
  signals: { name: string; payload?: unknown }[];
  /** Ids of the newest signals, so that one sent twice counts once. */
  signal_ids: string[];
  /** Actions not yet confirmed, by their id. */
  outbox: Record<string, Unconfirmed>;
  /** Bytes of results that are kept with the run; the engine counts them. */
  kept_bytes?: number;
  /** When the revision it runs was written, µs: one of a workflow that was deleted and made again has the same number. */
  workflow_written_at?: number;
}
