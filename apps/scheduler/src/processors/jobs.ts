import { decideJob } from '@svc/dispatch';
import { queues } from '@svc/queues.config';
import { processor } from '../context';
import { retryAfter } from './retry-after';

/** Safe to run twice: every write of the decision is conditional on the state it read. */
export const jobs = processor(queues.jobs, async ({ payload, ctx }) =>
  retryAfter(await decideJob(ctx, payload.job_id)),
);
