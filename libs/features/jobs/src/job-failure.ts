import type { DispatchIdentity } from '@svc/contract';
import type { JobEvent, JobState } from '@svc/lifecycle';
import { jobStates } from '@svc/lifecycle';
import type { DeadLetter, DeadLetterWrite, JobRecord, MoveExtras } from '@svc/store';

/** Messages still to be published after a transition; kept in the record until they are. */
export interface Intent {
  /** Synthetic result, so that subscribers waiting for the job learn that it ended. */
  result?: 'CANCELLED' | 'TIMEOUT' | 'DENIED' | 'FAILED' | 'SUCCEEDED';
  /** JobCancel to workers, with this reason. */
  cancel?: string;
  /** How long the job may take to end by itself; absent = the grace period of its worker. */
  grace_sec?: number;
  /** Dispatch to cancel, when the job may have a newer one at publish time; absent = the current one. */
  dispatch?: DispatchIdentity;
  /** Copy of the dead letter. */
  dlq?: true;
}

export interface JobFailure {
  event: JobEvent;
  code: string;
  message: string;
  /** The status the worker reported. */
  reported?: JobRecord['reported'];
  /** Also publish a synthetic result. */
  result?: Intent['result'];
  cancel?: string;
}

/** Status of an end state on the bus; a quarantine appears as DENIED. */
const busStatus: Partial<Record<JobState, string>> = {
  FAILED: 'JOB_STATUS_FAILED',
  DENIED: 'JOB_STATUS_DENIED',
  TIMEOUT: 'JOB_STATUS_TIMEOUT',
  OUTPUT_QUARANTINED: 'JOB_STATUS_DENIED',
};

export type EndedJob = Pick<JobRecord, 'id' | 'tenant' | 'topic' | 'attempts' | 'state' | 'letter'>;

/**
 * Whether the job's run will retry it: dead letters come from the final attempt only.
 * See docs/reference/jobs.md#states.
 */
const isRetriedByRun = (job: EndedJob, state: JobState, { reported }: JobFailure): boolean =>
  job.letter === 'withhold' && (state === 'FAILED' || state === 'TIMEOUT') && !reported;

/** All writes of a failure beside the state: error fields, dead letter, messages to publish. */
export function failureWrites(job: EndedJob, ending: JobFailure, nowUs: number, deadLetterTtlSec: number): MoveExtras {
  const state = jobStates.moves[ending.event].to;
  const status = busStatus[state] ?? `JOB_STATUS_${state}`;
  const withheld = isRetriedByRun(job, state, ending);
  const intent: Intent = {
    ...(ending.result && { result: ending.result }),
    ...(ending.cancel && { cancel: ending.cancel }),
    ...(!withheld && { dlq: true }),
  };
  return {
    set: {
      error_code: ending.code,
      error_message: ending.message,
      error_status: status,
      last_state: job.state,
      ...(ending.reported && { reported: ending.reported }),
      ...(withheld && { letter: 'withheld' }),
    },
    unset: ['waiting_reason'],
    ...(!withheld && {
      deadLetter: deadLetter({ ...job, last_state: job.state }, status, ending, nowUs, deadLetterTtlSec),
    }),
    ...(Object.keys(intent).length > 0 && { intent: JSON.stringify(intent) }),
  };
}

export function deadLetter(
  job: Pick<JobRecord, 'id' | 'tenant' | 'topic' | 'attempts'> & { last_state: string },
  status: string,
  { code, message }: Pick<JobFailure, 'code' | 'message'>,
  nowUs: number,
  ttlSec: number,
): DeadLetterWrite {
  // For quarantines the reason is the error code itself.
  const reason = code.startsWith('output_quarantined') ? code : message;
  const entry: DeadLetter = {
    job_id: job.id,
    topic: job.topic,
    tenant: job.tenant,
    status,
    reason,
    reason_code: code,
    last_state: job.last_state,
    attempts: job.attempts,
    created_at: new Date(nowUs / 1_000).toISOString(),
  };
  return { body: JSON.stringify(entry), ttl_sec: ttlSec, topic: job.topic, reason: `${code}: ${message}` };
}
