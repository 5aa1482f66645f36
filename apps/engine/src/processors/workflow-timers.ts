import { queues } from '@svc/queues.config';
import { fireTimer } from '@svc/workflows';
import { processor } from '../context';

/** Safe to run twice: the first execution deletes the timer. */
export const runTimers = processor(queues.runTimers, ({ payload, ctx }) =>
  fireTimer(ctx, payload.run_id, payload.timer),
);
