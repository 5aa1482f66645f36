import { rejectJob as endpoint } from '@svc/contract';
import { rejectJob } from '@svc/services';
import { handle } from '../../context';

export const reject = handle(endpoint, async ({ params, body, caller, ctx }) => {
  const outcome = await rejectJob(ctx.approvals, caller, params.job_id, body);
  return outcome.kind === 'resolved'
    ? { job_id: outcome.job.id }
    : { job_id: outcome.job.id, status: 'already_rejected', rejected_by: outcome.by, rejected_at: outcome.atUs };
});
