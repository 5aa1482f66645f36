import { defineQueues, type QueueSpec } from '@svc/queues';
import { shape } from '@svc/contract';
import Joi from 'joi';

export interface JobPayload {
  job_id: string;
}
export interface OutputScanPayload {
  job_id: string;
  /** The dispatch whose result is to be scanned: a result of another dispatch is not this one's business. */
  dispatch_id: string;
}

export interface RunPayload {
  run_id: string;
}
export interface RunTimerPayload extends RunPayload {
  timer: string;
}
export interface SchedulePayload {
  schedule_id: string;
  /** The time it was made for, Unix ms; the record says what is due. */
  due_ms: number;
}

const jobPayload = shape<JobPayload>({ required: { job_id: Joi.string() } });
const parked = { attempts: 10, backoffMs: 1_000, concurrency: 16, keep: { completedSec: 0, failedSec: 7 * 86_400 } };
const shownRuns = { completedSec: 86_400, failedSec: 7 * 86_400 };

/**
 * Every BullMQ queue. Workers, Bull Board, metrics and docs/queues.md are made from this table. The first four are the
 * places where a job that has not ended can stand, so an operator finds each job in exactly one of them.
 */
export const queues = defineQueues({
  jobs: {
    name: 'jobs',
    title: 'Jobs to decide',
    purpose: 'Each accepted job, in priority order, until policy has decided and a worker or a waiting place is found. Delayed here: throttled jobs and retries.',
    producers: ['api', 'scheduler'],
    consumer: 'scheduler',
    payload: jobPayload,
    concurrency: 64,
    attempts: 50,
    backoffMs: 1_000,
    keep: { completedSec: 0, failedSec: 7 * 86_400 },
  },
  jobWaiting: {
    name: 'jobs-waiting',
    title: 'Waiting for a worker',
    purpose: 'Allowed jobs for which no worker has room. Delayed until the deadline, or a recheck; a worker with room takes them sooner.',
    producers: ['scheduler'],
    consumer: 'scheduler',
    payload: jobPayload,
    ...parked,
  },
  jobApprovals: {
    name: 'jobs-held',
    title: 'Held for approval',
    purpose: 'Jobs that wait for a person. Delayed until the approval expires.',
    producers: ['api', 'scheduler'],
    consumer: 'scheduler',
    payload: jobPayload,
    ...parked,
  },
  jobRunning: {
    name: 'jobs-in-flight',
    title: 'In flight',
    purpose: 'Jobs that a worker holds. Delayed until their time is out.',
    producers: ['scheduler'],
    consumer: 'scheduler',
    payload: jobPayload,
    ...parked,
  },
  outputScan: {
    name: 'output-scan',
    title: 'Output scans',
    purpose: 'Scans what a finished job returned and quarantines or redacts it if a rule says so.',
    producers: ['scheduler'],
    consumer: 'scheduler',
    payload: shape<OutputScanPayload>({ required: { job_id: Joi.string(), dispatch_id: Joi.string().allow('') } }),
    concurrency: 8,
    attempts: 5,
    backoffMs: 1_000,
    keep: { completedSec: 3_600, failedSec: 7 * 86_400 },
  },
  runs: {
    name: 'workflow-runs',
    title: 'Workflow runs',
    purpose: 'Each run as a flow: it waits for its steps, these for their items and jobs. Open its flow to see the tree.',
    producers: ['api', 'engine'],
    consumer: null,
    payload: shape<RunPayload>({ required: { run_id: Joi.string() } }).unknown(),
    ...parked,
    keep: shownRuns,
  },
  runSteps: {
    name: 'workflow-steps',
    title: 'Workflow steps',
    purpose: 'Steps of runs, and items of fan-outs, that have begun: children of their run or step.',
    producers: ['engine'],
    consumer: null,
    payload: shape<RunPayload>({ required: { run_id: Joi.string() } }).unknown(),
    ...parked,
    keep: shownRuns,
  },
  runPasses: {
    name: 'workflow-passes',
    title: 'Runs to go on with',
    purpose: 'Runs to which something happened. A pass works out what follows; each run has one entry at most.',
    producers: ['api', 'scheduler', 'engine'],
    consumer: 'engine',
    payload: shape<RunPayload>({ required: { run_id: Joi.string() } }),
    concurrency: 32,
    attempts: 50,
    backoffMs: 1_000,
    keep: { completedSec: 0, failedSec: 7 * 86_400 },
  },
  runTimers: {
    name: 'workflow-timers',
    title: 'Timers of runs',
    purpose: 'Delays, retries, expiries, reminders and deadlines of runs. Delayed until they are due.',
    producers: ['engine'],
    consumer: 'engine',
    payload: shape<RunTimerPayload>({ required: { run_id: Joi.string(), timer: Joi.string() } }),
    concurrency: 32,
    attempts: 50,
    backoffMs: 1_000,
    keep: { completedSec: 0, failedSec: 7 * 86_400 },
  },
  schedules: {
    name: 'workflow-schedules',
    title: 'Starts of schedules',
    purpose: 'The next start of each schedule. Delayed until it is due; or until a start that waits for the run before, or for room, is looked at again.',
    producers: ['api', 'engine'],
    consumer: 'engine',
    payload: shape<SchedulePayload>({ required: { schedule_id: Joi.string(), due_ms: Joi.number() } }),
    ...parked,
  },
  deadLetters: {
    name: 'dead-letters',
    title: 'Dead letters',
    purpose: 'Jobs that ended badly, as failed entries with their reason, until they are retried or deleted.',
    producers: ['api', 'scheduler'],
    consumer: null,
    payload: jobPayload,
    ...parked,
  },
}); // prettier-ignore

export type QueueName = keyof typeof queues;
export type AnyQueue = QueueSpec<never>;
