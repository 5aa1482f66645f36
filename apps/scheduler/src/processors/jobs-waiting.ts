import { recheckWaiting } from '@svc/dispatch';
import { queues } from '@svc/queues.config';
import { processor } from '../context';
import { retryAfter } from './retry-after';

/** Safe to run twice: a job that no longer waits is not changed. */
export const jobsWaiting = processor(queues.jobWaiting, async ({ payload, ctx }) =>
  retryAfter(await recheckWaiting(ctx, payload.job_id)),
);
