import { consented, refused } from '../steps/approval';
import { failed, type At, type Outcome } from '../steps/kind';
import { readPath } from './context-path';
import type { JobEnded } from './events';

/** What the end of a job means to its step. See docs/reference/workflows.md#expressions. */
export function jobOutcome(at: At, event: JobEnded): Outcome {
  if (event.status === 'SUCCEEDED') return at.node.type === 'approval' ? consented(at) : intake(at, event);
  const message = event.error ?? `the job ended ${event.status}`;
  if (at.node.type === 'approval' && event.status === 'DENIED') return refused(at, event.error ?? 'rejected');
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
      return { kind: 'ended', status: 'cancelled', error };
    case 'OUTPUT_QUARANTINED':
      at.draft.note('step_output_quarantined', { step_id: at.path, job_id: event.jobId });
      return failed(message, 'step_output_quarantined');
  }
}

function intake({ node }: At, { output, resultPtr }: JobEnded): Outcome {
  const path = node.def.result_data_path;
  const picked = path === undefined ? output : readPath(output, path.split('.'));
  if (path !== undefined && picked === undefined) return failed('result_data_path not found', 'result_data_path');
  return {
    kind: 'succeeded',
    ...(picked !== undefined && { output: picked }),
    ...(resultPtr !== undefined && { resultPtr }),
  };
}
