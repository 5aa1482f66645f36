import { AppError, type Caller } from '@svc/contract';
import { findJob } from '@svc/jobs';
import type { JobRecord } from '@svc/store';
import type { ApiContext } from '../context';

/** Over gRPC, a job of another tenant is reported as not found. @throws job_not_found */
export async function findOwnJob(ctx: ApiContext, caller: Caller, id: string): Promise<JobRecord> {
  try {
    return await findJob(ctx.submit, caller.scope, id);
  } catch (error) {
    const hidden = error instanceof AppError && error.errorCode === 'tenant_access_denied';
    throw hidden ? new AppError('job_not_found') : error;
  }
}
