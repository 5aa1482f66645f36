import { decideJob } from '@svc/dispatch';
import { queues } from '@svc/queues.config';
import { processor } from '../context';
import { again } from './look-again';

/** Safe to run twice: every step of the decision compares the state it read. */
export const jobs = processor(queues.jobs, async ({ payload, ctx }) => again(await decideJob(ctx, payload.job_id)));
