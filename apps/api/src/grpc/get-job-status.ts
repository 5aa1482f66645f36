import { getJob as endpoint } from '@svc/contract';
import { unary } from '@svc/grpc';
import { isWithheld } from '@svc/jobs';
import type { JobRecord } from '@svc/store';
import type { ApiContext } from '../context';
import { admission, type GateOptions } from './admission';
import { findOwnJob } from './find-own-job';

interface GetJobStatusResponse {
  job_id: string;
  status: string;
  result_ptr: string;
}

/** See docs/reference/http.md#grpc. */
export function getJobStatus(ctx: ApiContext, options: GateOptions) {
  const admit = admission(endpoint, options);
  return unary<{ job_id: string }, GetJobStatusResponse>(async ({ job_id }, call) => {
    const { caller } = await admit(call, { params: { id: job_id } });
    const job = await findOwnJob(ctx, caller, job_id);
    return { job_id, status: job.state, result_ptr: visibleResult(job) };
  });
}

/** Omits a quarantined result and its pointer. */
export const visibleResult = (job: JobRecord): string => (isWithheld(job) ? '' : (job.result_ptr ?? ''));
