import { timeOutRunning } from '@svc/dispatch';
import { queues } from '@svc/queues.config';
import { processor } from '../context';
import { retryAfter } from './retry-after';

/** Safe to run twice: the state machine rejects the second timeout. */
export const jobsInFlight = processor(queues.jobRunning, async ({ payload, ctx }) =>
  retryAfter(await timeOutRunning(ctx, payload.job_id)),
);
