import { queuePriorities } from '@svc/routing';
import type { JobRecord, StoredRequest } from '@svc/store';
import type { SchedulingDeps } from './scheduling-deps';

/** Priority of a job's queue entries. */
export const entryPriority = (job: { request: Pick<StoredRequest, 'priority'> }): number =>
  queuePriorities[job.request.priority];

/** End of the time that a job may wait for its first dispatch, unix ms; undefined when the submitter sets none. */
type QueuedJob = Pick<JobRecord, 'attempts' | 'created_at'> & { request: Pick<StoredRequest, 'queue_ttl_ms'> };
export const queueEndsMs = ({ request, attempts, created_at }: QueuedJob): number | undefined =>
  request.queue_ttl_ms !== undefined && attempts === 0 ? created_at / 1_000 + request.queue_ttl_ms : undefined;

/** Shortens a delay so that it ends no later than the job's deadline and its time in the queue. */
export function delayToDeadline(
  { clock }: SchedulingDeps,
  job: QueuedJob & Pick<JobRecord, 'deadline_ms'>,
  delayMs: number,
): number {
  const endsMs = Math.min(job.deadline_ms || Infinity, queueEndsMs(job) ?? Infinity);
  return endsMs === Infinity ? delayMs : Math.max(1, Math.min(delayMs, endsMs - clock.nowMs()));
}
