import { queues } from '@svc/queues.config';
import { runPass } from '@svc/workflows';
import { processor } from '../context';

/** Safe to run twice: a pass holds the run's lock, and its save is conditional on the state it read. */
export const runPasses = processor(queues.runPasses, async ({ payload, ctx }) => {
  const ms = await runPass(ctx, payload.run_id);
  return ms === undefined ? undefined : { retryInMs: ms };
});
