import { rejectJob as endpoint } from '@svc/contract';
import { rejectJob } from '@svc/approvals';
import { handle } from '../../context';

export const reject = handle(endpoint, async ({ params, body, caller, ctx }) => {
  const outcome = await rejectJob(ctx.approvals, caller, params.job_id, body);
  const { id: job_id } = outcome.job;
  return outcome.kind === 'repeated'
    ? { job_id, status: 'already_rejected', rejected_by: outcome.by, rejected_at: outcome.atUs }
    : { job_id };
});
