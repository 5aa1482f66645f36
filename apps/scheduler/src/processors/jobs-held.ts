import { expireApproval } from '@svc/dispatch';
import { queues } from '@svc/queues.config';
import { processor } from '../context';
import { again } from './look-again';

/** Safe to run twice: the second expiry is refused by the job table. */
export const jobsHeld = processor(queues.jobApprovals, async ({ payload, ctx }) =>
  again(await expireApproval(ctx, payload.job_id)),
);
