import { timeOutRunning } from '@svc/dispatch';
import { queues } from '@svc/queues.config';
import { processor } from '../context';
import { again } from './look-again';

/** Safe to run twice: the second time-out is refused by the job table. */
export const jobsInFlight = processor(queues.jobRunning, async ({ payload, ctx }) =>
  again(await timeOutRunning(ctx, payload.job_id)),
);
