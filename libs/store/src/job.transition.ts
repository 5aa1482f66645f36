import { jobStates, type JobEvent, type JobState } from '@svc/lifecycle';
import type { EndClaim } from './job.claim';
import type { DecisionRecord, JobRecord } from './job.record';

/** Queues in which a job can be parked, by their key in queues.config.ts. */
export type ParkingQueue = 'jobWaiting' | 'jobApprovals' | 'jobRunning';

export interface QueueEntry {
  queue: 'jobs' | 'outputScan';
  /** Makes the entry id unique among those of the job. */
  suffix: string;
  delay_ms?: number;
  priority?: number;
  payload?: string;
}

export interface DeadLetterWrite {
  /** The entry, JSON. */
  body: string;
  ttl_sec: number;
  topic: string;
  reason: string;
}

/** Effects applied atomically with a state transition. */
export interface MoveExtras {
  set?: Partial<JobRecord>;
  unset?: (keyof JobRecord)[];
  /** Queue in which the job is then parked, and the maximum time. */
  park?: { queue: ParkingQueue; forMs: number };
  queueEntries?: QueueEntry[];
  deadLetter?: DeadLetterWrite;
  /** Pending publish, performed after the write. */
  intent?: string;
  /** Restricts the allowed source states further. */
  from?: readonly JobState[];
  /** Required current dispatch. */
  dispatchId?: string;
  /** Required assigned worker. */
  holder?: string;
  /** Start of the current dispatch, µs: if the job is still DISPATCHED, the history records that it was RUNNING from then. */
  startedAt?: number;
  /** Fields that must be as they were read; '' = absent. */
  guard?: Record<string, string>;
  decision?: DecisionRecord;
  /** Event (JSON) for the run of the job, delivered before the completion event if this ends the job. */
  post?: string;
  /** Entry (JSON) for the policy audit of the job's tenant. */
  audit?: string;
  /** Body of the result, to store under its usual key by the same call. */
  resultBody?: Buffer;
  /** A claim for the slot that this transition frees. It is made even when the transition is refused. */
  claim?: EndClaim;
}

/** Conditions for writing facts about a job, and additional effects. */
export interface NoteConditions {
  states: readonly JobState[];
  holder?: string;
  dispatchId?: string;
  /** Fields that must be as they were read; '' = absent. */
  guard?: Record<string, string>;
  /** Event (JSON) for the run of the job. */
  post?: string;
  /** Report of the worker (JSON) for the log of the job. */
  event?: string;
  deadLetter?: DeadLetterWrite;
}

export type MoveOutcome =
  | { kind: 'moved'; from: JobState; state: JobState; atUs: number }
  | { kind: 'refused'; state: JobState }
  | { kind: 'stale' }
  | { kind: 'changed' }
  | { kind: 'other_tenant' }
  | { kind: 'missing' };

export interface Retention {
  metaSec: number;
  dataSec: number;
}

export const toRetain = ({ metaSec, dataSec }: Retention) => ({ meta_sec: metaSec, data_sec: dataSec });

/** The reply of `move_job()`. */
export function readMove(reply: unknown, event: JobEvent): MoveOutcome {
  const [kind, detail = '', at = ''] = reply as [MoveOutcome['kind'], string?, string?];
  switch (kind) {
    case 'moved':
      return { kind, from: detail as JobState, state: jobStates.moves[event].to, atUs: Number(at) };
    case 'refused':
      return { kind, state: detail as JobState };
    default:
      return { kind };
  }
}
