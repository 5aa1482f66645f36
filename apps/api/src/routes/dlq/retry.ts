import { retryDeadLetter as endpoint } from '@svc/contract';
import { retryDeadLetter } from '@svc/jobs';
import { handle } from '../../context';

export const retry = handle(endpoint, async ({ params, caller, ctx }) => ({
  job_id: await retryDeadLetter(ctx.resubmit, caller, params.job_id),
}));
