import { AppError, jobId, type DecisionView, type JobDetail, type TenantScope } from '@svc/contract';
import { getJob, jobDecisions } from '@svc/jobs';
import type { DeadLetter, JobHistoryEntry, JobRecord, Store } from '@svc/store';

/** All data of a job. */
export interface JobFacts {
  id: string;
  /** Absent when the record has expired and only the dead letter remains. */
  job?: {
    detail: JobDetail;
    /** Queue of the job, by its key in queues.config.ts, and the reason. */
    place: Pick<JobRecord, 'parked' | 'waiting_reason' | 'waiting_since'>;
    history: JobHistoryEntry[];
    decisions: DecisionView[];
  };
  letter?: DeadLetter;
}

/** @throws job_not_found, tenant_access_denied */
export async function jobFacts(store: Store, scope: TenantScope, id: string): Promise<JobFacts> {
  if (jobId.validate(id).error) throw new AppError('job_not_found');
  const [found, letter] = await Promise.all([store.jobs.get(scope, id), store.deadLetters.get(scope, id)]);
  if (found.kind === 'other_tenant' || letter === 'other_tenant') throw new AppError('tenant_access_denied');
  if (found.kind === 'missing') {
    if (!letter) throw new AppError('job_not_found');
    return { id, letter };
  }
  const [detail, decisions, history] = await Promise.all([
    getJob({ store }, scope, id),
    jobDecisions({ store }, scope, id, 50),
    store.jobs.events(id),
  ]);
  return { id, job: { detail: detail.decode(), place: found.job, history, decisions }, ...(letter && { letter }) };
}
