import type { Kernel } from '@svc/kernel-client';
import type { Admission } from '@svc/admission';
import type { DataUrlSettings } from '@svc/jobs';
import type { Base, Fleet, JobBus, LicenseLimits } from '@svc/platform';
import type { GrantSigner } from '@svc/identity';
import type { EffectiveConfig } from '@svc/settings';
import type { ShadowReporter } from '@svc/decision';
import type { TopicDeps } from '@svc/registry';
import type { BudgetAction } from '@svc/policy';
import type { ResultJob, SpendAlert } from '@svc/store';
import type { FreedSlots } from './freed-slots';
import type { InFlightRecords } from './in-flight-records';
import type { JobTickets, TicketEvents } from './inline-data';
import type { OpenJobCount } from './open-job-census';
import type { ResultFacts } from '@svc/output-safety';
import type { DroppedReport, ReportStates } from './report-states';
import type { StartWrites } from './start-writes';
import type { WorkerRegistry } from './worker-registry';

export type ReportKind = 'result' | 'progress';
/** Reason a report without a dispatch id is ignored. */
export type MissingDispatch = 'worker_echoes' | 'required_by_setting';

/** Events for logs and metrics, named like the metrics. */
export interface SchedulingEvents extends TicketEvents {
  received(topic: string): void;
  denied(topic: string): void;
  safetyUnavailable(topic: string): void;
  /** A budget reached an alert threshold; reported once per threshold. */
  budgetReached(alert: SpendAlert): void;
  failOpen(topic: string): void;
  dispatched(topic: string, waitedMs: number): void;
  rolledBack(topic: string, error: unknown): void;
  /** RUNNING could not be written; the job stays DISPATCHED until the reconciler publishes it again. */
  startFailed(jobId: string, error: unknown): void;
  /** A job ended because of a limit by key. */
  cancelledByLimit(limit: 'concurrency' | 'debounce'): void;
  completed(topic: string, status: string): void;
  waiting(topic: string, reason: string): void;
  /** A job exceeds its budget. @param limit the setting that was exceeded */
  overBudget(topic: string, action: BudgetAction, limit: string): void;
  replayed(topic: string, kind: string): void;
  /** One cycle of the reconciler has ended. */
  reconciled(tookMs: number): void;
  /** Open jobs as the reconciler last counted them; none while another replica runs it. */
  openJobs(counts: readonly OpenJobCount[]): void;
  /** Waiting jobs were dispatched because a worker connected or reconnected. */
  flushed(pool: string, jobs: number): void;
  approvalExpired(): void;
  /** A dead letter was written, but its event could not be published yet. */
  deadLetterFailed(topic: string): void;
  outputChecked(topic: string, phase: 'sync' | 'async', decision: string, tookMs: number): void;
  outputSkipped(topic: string, error: unknown): void;
  /** Output policy evaluated one request; a long result needs several. */
  outputEvaluated(topic: string, decision: string, tookMs: number): void;
  /** The content of a result could not be checked in time. */
  outputLate(topic: string): void;
  ignoredResult(jobId: string, reason: string): void;
  /** A result or progress report without a dispatch id was ignored. */
  reportWithoutDispatch(kind: ReportKind, reason: MissingDispatch, workerId: string, jobId: string): void;
  /** Log lines or partial output of a job were dropped. */
  reportDropped(reason: DroppedReport, workerId: string, jobId: string): void;
  /** A job submitted over the bus was refused. */
  refusedSubmission(jobId: string, reason: string): void;
  publishFailed(jobId: string, error: unknown): void;
  /** The reconciler could not repair a job. @param triesLeft attempts that remain */
  repairFailed(jobId: string, error: unknown, triesLeft: number): void;
  workerRefused(workerId: string, reason: string): void;
  workerLost(workerId: string, jobs: number): void;
  /** Jobs that a live worker no longer has, usually after a restart, were released. */
  jobsLost(workerId: string, jobs: number): void;
  preempted(jobId: string): void;
  /** A scan failed in this process; the queue retries it. */
  scanDeferred(jobId: string, error: unknown): void;
}

/** Dependencies of scheduling, built once in main. */
export interface SchedulingDeps extends Base {
  kernel: Kernel;
  shadows: ShadowReporter;
  bus: JobBus;
  config: EffectiveConfig;
  fleet: Fleet;
  topics: TopicDeps;
  registry: WorkerRegistry;
  inFlight: InFlightRecords;
  starts: StartWrites;
  reports: ReportStates;
  events: SchedulingEvents;
  /** Whether the bus answers now, within a second. */
  busAnswers(): Promise<boolean>;
  /** Whether every result stored at the time of the call has been handled by some scheduler; waits for that up to 2 s. */
  resultsHandled(): Promise<boolean>;
  /** Deletes the message of a superseded dispatch, so that no worker receives it (again). Never throws. */
  withdrawDispatch(seq: number): Promise<void>;
  admission: Admission;
  /** Undefined: dispatches have no data URLs. */
  dataUrls?: DataUrlSettings | undefined;
  /** Undefined: messages contain no inline data. */
  tickets?: JobTickets | undefined;
  /** Undefined: dispatches have no grants. */
  grants?: GrantSigner | undefined;
  license(): LicenseLimits;
  senderId: string;
  settings: {
    policyFailMode: 'closed' | 'open';
    approvalTtlMs: number;
    deadLetterTtlSec: number;
    /** undefined = the value from config; see `routingRules`. */
    readinessRequired: boolean | undefined;
    outputPolicyEnabled: boolean;
    outputFailMode: 'closed' | 'open';
    outputMetaTimeoutMs: number;
    defaultDeadline: boolean;
    /** Refuses results and progress without a dispatch id from every worker. */
    dispatchIdRequired: boolean;
  };
  /** A worker may have a free slot: dispatch waiting jobs soon. */
  wake(workerId: string): void;
  /** See `LaneDispatcher.claimWithEnd`. */
  claimWithEnd(workerId: string): Promise<FreedSlots | undefined>;
  /** Like `wake`, for a new worker; its jobs are reported as flushed. */
  wakeNew(workerId: string): void;
  onDeadLetterFailed(topic: string): void;
  /** A success was written whose body still has to be scanned. */
  scanSoon(job: ResultJob, result: ResultFacts): void;
}
