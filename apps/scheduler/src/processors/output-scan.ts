import { scanOutput } from '@svc/output-safety';
import { queues } from '@svc/queues.config';
import { processor } from '../context';

/** Safe to run twice: the state machine rejects the second quarantine, and the second redaction writes the same pointer. */
export const outputScan = processor(queues.outputScan, ({ payload, ctx }) =>
  scanOutput(ctx, payload.job_id, payload.dispatch_id),
);
