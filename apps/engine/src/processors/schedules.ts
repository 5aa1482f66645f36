import { queues } from '@svc/queues.config';
import { fireSchedule } from '@svc/workflows';
import { processor } from '../context';

/** Safe to run twice: a time is claimed once, and each start has an idempotency key of its own. */
export const schedules = processor(queues.schedules, ({ payload, ctx }) => fireSchedule(ctx.schedules, payload));
