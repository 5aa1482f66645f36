import { recheckWaiting } from '@svc/dispatch';
import { queues } from '@svc/queues.config';
import { processor } from '../context';
import { again } from './look-again';

/** Safe to run twice: a job that is no longer waiting is left alone. */
export const jobsWaiting = processor(queues.jobWaiting, async ({ payload, ctx }) =>
  again(await recheckWaiting(ctx, payload.job_id)),
);
