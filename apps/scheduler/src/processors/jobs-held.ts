import { expireApproval } from '@svc/dispatch';
import { queues } from '@svc/queues.config';
import { processor } from '../context';
import { retryAfter } from './retry-after';

/** Safe to run twice: the state machine rejects the second expiry. */
export const jobsHeld = processor(queues.jobApprovals, async ({ payload, ctx }) =>
  retryAfter(await expireApproval(ctx, payload.job_id)),
);
