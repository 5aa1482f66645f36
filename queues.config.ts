import { defineQueues, type QueueSpec } from '@svc/queues';
import { shape } from '@svc/contract';
import Joi from 'joi';

export interface JobPayload {
  job_id: string;
}
export interface OutputScanPayload {
  job_id: string;
  /** Dispatch whose result is scanned; results of other dispatches are ignored. */
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
  /** Scheduled time in Unix ms; the record determines what is due. */
  due_ms: number;
}

export interface EvalRunPayload {
  run_id: string;
}

const jobPayload = shape<JobPayload>({ required: { job_id: Joi.string() } });
const parked = { attempts: 10, backoffMs: 1_000, concurrency: 16, keep: { completedSec: 0, failedSec: 7 * 86_400 } };
const shownRuns = { completedSec: 86_400, failedSec: 7 * 86_400 };

/**
 * Every BullMQ queue. Workers, Bull Board, metrics and docs/queues.md are derived from this table. Every unfinished job
 * has an entry in exactly one of the first four queues.
 */
export const queues = defineQueues({
  jobs: {
    name: 'jobs',
    title: 'Pending jobs',
    purpose: 'Accepted jobs that the gateway did not place itself, in priority order, until policy has decided and they are dispatched or moved to another queue. Delayed: throttled jobs and retries.',
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
    purpose: 'Allowed jobs without free worker capacity, or that wait for one of their limits by key. Delayed until the deadline or the next recheck; dispatched earlier when a worker has capacity.',
    producers: ['api', 'scheduler'],
    consumer: 'scheduler',
    payload: jobPayload,
    ...parked,
  },
  jobApprovals: {
    name: 'jobs-held',
    title: 'Held for approval',
    purpose: 'Jobs that wait for an approval. Delayed until the approval expires.',
    producers: ['api', 'scheduler'],
    consumer: 'scheduler',
    payload: jobPayload,
    ...parked,
  },
  jobRunning: {
    name: 'jobs-in-flight',
    title: 'In flight',
    purpose: 'Jobs that a worker holds. Delayed until they time out.',
    producers: ['api', 'scheduler'],
    consumer: 'scheduler',
    payload: jobPayload,
    ...parked,
  },
  outputScan: {
    name: 'output-scan',
    title: 'Output scans',
    purpose: 'Scans the results of finished jobs, and quarantines or redacts them if a rule matches.',
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
    purpose: 'Each run as a flow: a run waits for its steps, and a step for its items and jobs. Open the flow to see the tree.',
    producers: ['api', 'engine'],
    consumer: null,
    payload: shape<RunPayload>({ required: { run_id: Joi.string() } }).unknown(),
    ...parked,
    keep: shownRuns,
  },
  runSteps: {
    name: 'workflow-steps',
    title: 'Workflow steps',
    purpose: 'Started steps of runs and items of fan-outs, as children of their run or step.',
    producers: ['engine'],
    consumer: null,
    payload: shape<RunPayload>({ required: { run_id: Joi.string() } }).unknown(),
    ...parked,
    keep: shownRuns,
  },
  runPasses: {
    name: 'workflow-passes',
    title: 'Workflow passes',
    purpose: 'Runs with new events. A pass computes and starts the next steps; each run has at most one entry.',
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
    title: 'Workflow timers',
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
    title: 'Workflow schedules',
    purpose: 'The next start of each schedule. Delayed until it is due, or until a start that waits for the previous run or for capacity is retried.',
    producers: ['api', 'engine'],
    consumer: 'engine',
    payload: shape<SchedulePayload>({ required: { schedule_id: Joi.string(), due_ms: Joi.number() } }),
    ...parked,
  },
  evalRuns: {
    name: 'eval-runs',
    title: 'Evaluation runs',
    purpose: 'Runs and comparisons of large evaluation datasets, until they are evaluated.',
    producers: ['api'],
    consumer: 'engine',
    payload: shape<EvalRunPayload>({ required: { run_id: Joi.string() } }),
    concurrency: 1,
    attempts: 10,
    backoffMs: 5_000,
    keep: { completedSec: 0, failedSec: 7 * 86_400 },
  },
  deadLetters: {
    name: 'dead-letters',
    title: 'Dead letters',
    purpose: 'Failed jobs, as failed entries with their reason, until they are retried or deleted.',
    producers: ['api', 'scheduler'],
    consumer: null,
    payload: jobPayload,
    ...parked,
  },
}); // prettier-ignore

export type QueueName = keyof typeof queues;
export type AnyQueue = QueueSpec<never>;
