import { approveGate, rejectGate } from '../steps/approval';
import { failed, type StepContext, type Outcome } from '../steps/kind';
import { readPath } from './context-path';
import type { JobEnded } from './events';

/** Outcome of a step whose job ended. See docs/reference/workflows.md#expressions. */
export function jobOutcome(at: StepContext, event: JobEnded): Outcome {
  if (event.openJob) return { kind: 'succeeded', output: { ...event.openJob }, isOfOtherJob: true };
  if (event.status === 'SUCCEEDED') return at.node.type === 'approval' ? approveGate(at) : toStepOutcome(at, event);
  const message = event.error ?? `the job ended ${event.status}`;
  if (at.node.type === 'approval' && event.status === 'DENIED') return rejectGate(at, event.error ?? 'rejected');
  const error = { message, ...(event.code !== undefined && { code: event.code }) };
  switch (event.status) {
    case 'FAILED':
    case 'FAILED_RETRYABLE':
      return { kind: 'ended', status: 'failed', error, retryable: true };
    case 'TIMEOUT':
      return {
        kind: 'ended',
        status: 'timed_out',
        error: { ...error, code: event.code ?? 'timeout' },
        retryable: true,
      };
    case 'FAILED_FATAL':
      return { kind: 'ended', status: 'failed', error };
    case 'DENIED':
      return { kind: 'ended', status: 'denied', error };
    case 'CANCELLED':
      return { kind: 'ended', status: isCancelledByLimit(at, event) ? 'failed' : 'cancelled', error };
    case 'OUTPUT_QUARANTINED':
      at.draft.note('step_output_quarantined', { step_id: at.path, job_id: event.jobId });
      return failed(message, 'step_output_quarantined');
  }
}

/** A handler of errors may continue without the job; after any other cancellation it may not. */
const isCancelledByLimit = ({ node: { def } }: StepContext, { code }: JobEnded): boolean =>
  (code === 'concurrency_limit' && def.concurrency !== undefined) ||
  (code === 'debounced' && def.debounce !== undefined);

function toStepOutcome({ node }: StepContext, { output, resultPtr }: JobEnded): Outcome {
  const path = node.def.result_data_path;
  const picked = path === undefined ? output : readPath(output, path.split('.'));
  if (path !== undefined && picked === undefined) return failed('result_data_path not found', 'result_data_path');
  return {
    kind: 'succeeded',
    ...(picked !== undefined && { output: picked }),
    ...(resultPtr !== undefined && { resultPtr }),
  };
}
