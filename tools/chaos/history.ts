import type { DeadLetter, DecisionRecord, JobHistoryEntry, JobRecord } from '@svc/store';

/** One call of a client, as he saw it. */
export interface Call {
  act: 'submit' | 'cancel' | 'approve' | 'reject' | 'retry';
  /** The job it was about; of a submission the one it was answered. */
  jobId: string;
  /** Idempotency key of a submission. */
  key?: string;
  /** Tells the bodies apart that were sent under one key. */
  body?: string;
  /** `unknown`: no answer came, or one that does not say whether it was done. */
  outcome: 'ok' | 'refused' | 'unknown';
  status: number;
  code: string;
  /** Of a retry, the job it was answered. */
  newJobId?: string;
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

/** Everything the checkers look at. */
export interface History {
  calls: readonly Call[];
  jobs: ReadonlyMap<string, JobHistory>;
  dispatches: readonly Dispatch[];
  answers: readonly Answer[];
  /** Jobs that may stand still: they wait for somebody who does not come. */
  mayWait: ReadonlySet<string>;
  /** What is left at the end where nothing should be: a name and how many. */
  left: Readonly<Record<string, number>>;
}

export interface Violation {
  invariant: string;
  jobId: string;
  text: string;
}
