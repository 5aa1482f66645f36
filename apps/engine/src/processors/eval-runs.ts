import { executeEvalRun } from '@svc/evals';
import { queues } from '@svc/queues.config';
import { processor } from '../context';

/** Safe to run twice: only the first end of a run is stored. */
export const evalRuns = processor(queues.evalRuns, ({ payload, ctx }) => executeEvalRun(ctx.evals, payload.run_id));
