import type { DeadLetter, DecisionRecord, JobHistoryEntry, JobRecord } from '@svc/store';
import type { RunState, TimelineEvent } from '@svc/workflow';

/** One request of a client and its outcome, from the client's view. */
export interface Call {
  act:
    | 'submit'
    | 'agent'
    | 'cancel'
    | 'approve'
    | 'reject'
    | 'retry'
    | 'start-run'
    | 'cancel-run'
    | 'rerun'
    | 'signal'
    | 'pool'
    | 'credential';
  /** The job; for a submission, the one in the response. '' when the call concerns a run. */
  jobId: string;
  /** The run; for a start, the one in the response. */
  runId?: string;
  /** Idempotency key of a submission or start. */
  key?: string;
  /** Distinguishes bodies sent with one key. */
  body?: string;
  /** `unknown`: no response, or one that leaves open whether the call took effect. */
  outcome: 'ok' | 'refused' | 'unknown';
  status: number;
  code: string;
  /** For a retry, the job in the response. */
  newJobId?: string;
  /** For a rerun, the run in the response. */
  newRunId?: string;
  /** The response says that the same call was made before. */
  repeated?: boolean;
}

/** A dispatch of a job to a worker, as stored on the bus. */
export interface Dispatch {
  jobId: string;
  workerId: string;
  dispatchId: string;
  attempt: number;
  /** Time of sending, µs. */
  sentUs: number;
  /** Hash of the job request without the fields that a dispatch adds. */
  jobHash: string;
}

/** A result sent by a worker of the harness, legitimate or forged. */
export interface Answer {
  jobId: string;
  /** Sender of the packet, and the worker it claims to be. */
  senderId: string;
  workerId: string;
  dispatchId: string;
  /** Unique to this answer. */
  resultPtr: string;
}

/** One job as stored in Redis. */
export interface JobHistory {
  record: JobRecord | undefined;
  events: readonly JobHistoryEntry[];
  /** Newest first. */
  decisions: readonly DecisionRecord[];
  deadLetter: DeadLetter | undefined;
}

/** One run as stored in Redis. */
export interface RunHistory {
  run: RunState;
  /** Oldest first. */
  timeline: readonly TimelineEvent[];
  /** Number of leftovers by name; an ended run has none. */
  left: Readonly<Record<string, number>>;
  /** Sets of the board that contain its entry. */
  shownAs: readonly string[];
}

/** A time in which no timer could fire: engine or Redis was down, hung or disconnected. Wall clock, ms. */
export interface Outage {
  fromMs: number;
  toMs: number;
}

/** Stored spending and reservations of a tenant, over all days; micros. */
export interface Spent {
  spent: number;
  reserved: number;
}

/** The audit chain of a tenant, as verified and read at the end. */
export interface AuditHistory {
  status: 'ok' | 'partial' | 'compromised';
  /** Faults, as `<type> at <seq>`. */
  gaps: readonly string[];
  /** Transitions of jobs and runs that it contains, as `describeTransition` writes them. */
  transitions: ReadonlySet<string>;
}

/** A transition as one text. @param at µs; only for jobs */
export const describeTransition = (id: string, to: string, at?: number): string => `${id} ${to} ${at ?? ''}`.trim();

/** Input of the checkers. */
export interface History {
  calls: readonly Call[];
  jobs: ReadonlyMap<string, JobHistory>;
  runs: ReadonlyMap<string, RunHistory>;
  outages: readonly Outage[];
  dispatches: readonly Dispatch[];
  answers: readonly Answer[];
  /** By tenant. */
  money: ReadonlyMap<string, Spent>;
  /** By tenant. */
  audit: ReadonlyMap<string, AuditHistory>;
  /** Jobs and runs that may remain open, since no one resolves their approval. */
  mayWait: ReadonlySet<string>;
  /** Number of leftovers by name; expected to be 0. */
  left: Readonly<Record<string, number>>;
}

export interface Violation {
  invariant: string;
  /** The job or run concerned; '' = all. */
  jobId: string;
  text: string;
}
