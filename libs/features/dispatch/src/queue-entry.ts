import { queuePriorities } from '@svc/routing';
import type { JobRecord } from '@svc/store';
import type { SchedulingDeps } from './scheduling-deps';

/** Priority of a job's queue entries. */
export const entryPriority = (job: JobRecord): number => queuePriorities[job.request.priority];

/** A delay that ends with the job's deadline at the latest. */
export const untilDeadline = ({ clock }: SchedulingDeps, job: JobRecord, delayMs: number): number =>
  job.deadline_ms > 0 ? Math.max(1, Math.min(delayMs, job.deadline_ms - clock.nowMs())) : delayMs;
