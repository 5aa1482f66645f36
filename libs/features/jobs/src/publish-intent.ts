import { jobCancelPacket, jobResultPacket, JobStatus, subjects, type DispatchIdentity } from '@svc/contract';
import type { JobRecord } from '@svc/store';
import type { Base, JobBus } from '@svc/platform';
import type { Intent } from './job-failure';
import { dispatchIdentity } from '@svc/decision';

export interface IntentDeps extends Pick<Base, 'store' | 'clock'> {
  bus: JobBus;
  senderId: string;
  /** A dead letter is stored, but its notice could not be published. */
  onDeadLetterFailed?(topic: string): void;
}
export type Intended = Pick<
  JobRecord,
  'id' | 'topic' | 'trace_id' | 'intent' | 'worker_id' | 'error_code' | 'error_message' | 'state'
>;

const busStatus = {
  CANCELLED: JobStatus.JOB_STATUS_CANCELLED,
  TIMEOUT: JobStatus.JOB_STATUS_TIMEOUT,
  DENIED: JobStatus.JOB_STATUS_DENIED,
  FAILED: JobStatus.JOB_STATUS_FAILED,
  SUCCEEDED: JobStatus.JOB_STATUS_SUCCEEDED,
} as const;

/**
 * Publishes the pending messages of a transition, then marks them published. The record keeps the intent until then, so
 * after a crash the replayer publishes it; subscribers deduplicate by message id or state.
 */
export async function publishIntent(deps: IntentDeps, job: Intended): Promise<void> {
  if (!job.intent) return;
  const { store, bus, clock, senderId } = deps;
  const intent = JSON.parse(job.intent) as Intent;
  const head = { trace_id: job.trace_id, sender_id: senderId, nowUs: clock.nowUs() };
  const result = (status: JobStatus) =>
    jobResultPacket(head, {
      job_id: job.id,
      status,
      worker_id: senderId,
      error_code: job.error_code ?? '',
      error_message: job.error_message ?? '',
    });
  const sendResult = async () => {
    if (intent.result) await bus.publishDurable(subjects.jobResult.name, result(busStatus[intent.result]));
  };
  const sendCancel = async () => {
    if (!intent.cancel) return;
    const { cancel: reason, grace_sec = 0 } = intent;
    const dispatch = intent.dispatch ?? (await currentDispatch(store, job.id));
    const cancel = { job_id: job.id, reason, requested_by: senderId, grace_sec, dispatch };
    await bus.publish(subjects.jobCancel.name, jobCancelPacket(head, cancel));
  };
  // Concurrent, so that a worker does not run on until the bus has stored the result.
  await Promise.all([sendResult(), sendCancel()]);
  if (intent.dlq) {
    // A quarantine has no status of its own and appears as DENIED. See docs/reference/jobs.md#states.
    const status =
      job.state === 'TIMEOUT' || job.state === 'FAILED' || job.state === 'CANCELLED' ? job.state : 'DENIED';
    await bus.publishDurable(subjects.jobDlq.name, result(busStatus[status])).catch((error: unknown) => {
      deps.onDeadLetterFailed?.(job.topic);
      throw error;
    });
  }
  await store.jobs.intentDone(job.id, job.intent);
}

/** Reads the record: the caller's copy may predate the last dispatch, and an ended job gets no other. */
async function currentDispatch({ jobs }: Base['store'], id: string): Promise<DispatchIdentity | undefined> {
  const job = await jobs.load(id);
  return job && dispatchIdentity(job);
}
