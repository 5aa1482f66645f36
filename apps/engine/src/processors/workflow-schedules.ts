import { queues } from '@svc/queues.config';
import { fireSchedule } from '@svc/workflows';
import { processor } from '../context';

/** Safe to run twice: each due time is claimed once, and each start has its own idempotency key. */
export const schedules = processor(queues.schedules, ({ payload, ctx }) => fireSchedule(ctx.schedules, payload));
