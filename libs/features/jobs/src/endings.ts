import type { DispatchIdentity } from '@svc/contract';
import type { JobEvent, JobState } from '@svc/lifecycle';
import { jobStates } from '@svc/lifecycle';
import type { DeadLetter, DeadLetterWrite, JobRecord, MoveExtras } from '@svc/store';

/** What is still to be said on the bus after a move: kept in the record until it is said. */
export interface Intent {
  /** Synthetic result, so that whoever waits for the job hears of its end. */
  result?: 'CANCELLED' | 'TIMEOUT' | 'DENIED' | 'FAILED' | 'SUCCEEDED';
  /** JobCancel to workers, with this reason. */
  cancel?: string;
  /** How long the job then has to end by itself; absent = as long as its worker grants. */
  grace_sec?: number;
  /** Dispatch to cancel, when the job may have a newer one by the time of the publish; absent = the one it is in then. */
  dispatch?: DispatchIdentity;
  /** Copy of the dead letter. */
  dlq?: true;
}

export interface Ending {
  event: JobEvent;
  code: string;
  message: string;
  /** The status the worker reported. */
  reported?: JobRecord['reported'];
  /** Also a synthetic result. */
  result?: Intent['result'];
  cancel?: string;
}

/** How an end state is called on the bus; a quarantine appears as DENIED. */
const busStatus: Partial<Record<JobState, string>> = {
  FAILED: 'JOB_STATUS_FAILED',
  DENIED: 'JOB_STATUS_DENIED',
  TIMEOUT: 'JOB_STATUS_TIMEOUT',
  OUTPUT_QUARANTINED: 'JOB_STATUS_DENIED',
};

type Ended = Pick<JobRecord, 'id' | 'tenant' | 'topic' | 'attempts' | 'state' | 'letter'>;

/**
 * The end is one that the run of the job retries: dead letters come from the final attempt only.
 * See docs/reference/jobs.md#states.
 */
const isRetriedByRun = (job: Ended, state: JobState, { reported }: Ending): boolean =>
  job.letter === 'withhold' && (state === 'FAILED' || state === 'TIMEOUT') && !reported;

/** Everything that a bad end writes beside the state: error fields, dead letter, what to publish. */
export function badEnd(job: Ended, ending: Ending, nowUs: number, deadLetterTtlSec: number): MoveExtras {
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
  { code, message }: Pick<Ending, 'code' | 'message'>,
  nowUs: number,
  ttlSec: number,
): DeadLetterWrite {
  // For quarantines the reason is the code itself.
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
