import type { DeadLetter, DecisionRecord, JobHistoryEntry, JobRecord } from '@svc/store';
import type { RunState, TimelineEvent } from '@svc/workflow';

/** One call of a client, as he saw it. */
export interface Call {
  act: 'submit' | 'cancel' | 'approve' | 'reject' | 'retry' | 'start-run' | 'cancel-run' | 'rerun' | 'signal';
  /** The job it was about; of a submission the one it was answered. '' when it was about a run. */
  jobId: string;
  /** The run it was about; of a start the one it was answered. */
  runId?: string;
  /** Idempotency key of a submission or a start. */
  key?: string;
  /** Tells the bodies apart that were sent under one key. */
  body?: string;
  /** `unknown`: no answer came, or one that does not say whether it was done. */
  outcome: 'ok' | 'refused' | 'unknown';
  status: number;
  code: string;
  /** Of a retry, the job it was answered. */
  newJobId?: string;
  /** Of a rerun, the run it was answered. */
  newRunId?: string;
  /** The answer said that somebody had done the same before. */
  repeated?: boolean;
}

/** A job given to a worker, as the bus has it. */
export interface Dispatch {
  jobId: string;
  workerId: string;
  dispatchId: string;
  attempt: number;
  /** When it was made, µs. */
  sentUs: number;
  /** Hash of the request in it, without what a dispatch adds. */
  jobHash: string;
}

/** What a worker of the harness answered, rightfully or not. */
export interface Answer {
  jobId: string;
  /** Who said so, and for whom. */
  senderId: string;
  workerId: string;
  dispatchId: string;
  /** Unlike that of every other answer. */
  resultPtr: string;
}

/** One job as Redis holds it. */
export interface JobHistory {
  record: JobRecord | undefined;
  events: readonly JobHistoryEntry[];
  /** Newest first. */
  decisions: readonly DecisionRecord[];
  deadLetter: DeadLetter | undefined;
}

/** One run as Redis holds it. */
export interface RunHistory {
  run: RunState;
  /** Oldest first. */
  timeline: readonly TimelineEvent[];
  /** What is left of it where an ended run has nothing: a name and how many. */
  left: Readonly<Record<string, number>>;
  /** Sets of the board that its entry stands in. */
  shownAs: readonly string[];
}

/** A time in which nobody could have fired a timer: engine or Redis was down, hung or cut off. By the wall clock, ms. */
export interface Outage {
  fromMs: number;
  toMs: number;
}

/** What the store says a tenant has spent and reserved, over all days; micros. */
export interface Spent {
  spent: number;
  reserved: number;
}

/** Everything the checkers look at. */
export interface History {
  calls: readonly Call[];
  jobs: ReadonlyMap<string, JobHistory>;
  runs: ReadonlyMap<string, RunHistory>;
  outages: readonly Outage[];
  dispatches: readonly Dispatch[];
  answers: readonly Answer[];
  /** By tenant. */
  money: ReadonlyMap<string, Spent>;
  /** Jobs that may stand still: they wait for somebody who does not come. */
  mayWait: ReadonlySet<string>;
  /** What is left at the end where nothing should be: a name and how many. */
  left: Readonly<Record<string, number>>;
}

export interface Violation {
  invariant: string;
  /** The job or run it is about; '' = all. */
  jobId: string;
  text: string;
}
