import { AppError, type Caller } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import type { RunRecord } from '@svc/store';
import type { Base } from '@svc/platform';
import { requireFound } from '../definitions/read-workflows';
import { awaitRun } from './await-run';

type CancelRunDeps = Pick<Base, 'store' | 'clock'>;

export interface RunCancel {
  runId: string;
  /** Workflow that the run must belong to. */
  workflowId: string;
  /** Compensate the finished steps. */
  compensate: boolean;
}

const processedWithinMs = 2_000;

/**
 * Cancels a run. The request is durable once this returns; usually the run has also processed it by then.
 * See docs/reference/workflows.md#runs.
 *
 * @throws run_not_found, tenant_access_denied, run_not_cancellable when it ended otherwise
 */
export async function cancelRun(
  deps: CancelRunDeps,
  caller: Caller,
  { runId, workflowId, compensate }: RunCancel,
): Promise<void> {
  const { store } = deps;
  const event = { kind: 'cancel', by: caller.principalId, ...(compensate && { compensate }) };
  const posted = await store.runs.post(caller.scope, runId, event, workflowId);
  if (posted.kind === 'ended') return refuseUnlessCancelled(posted.status);
  if (posted.kind !== 'posted') return requireFound<void>(posted, 'run_not_found');
  const run = await awaitRun(deps, runId, isEnding, processedWithinMs);
  // The run ended before it processed the cancellation.
  if (run && isRunEnded(run.status)) refuseUnlessCancelled(run.status);
}

/** The run's final status is decided; jobs may still be stopping and finished steps being compensated. */
const isEnding = ({ status, header }: RunRecord): boolean => isRunEnded(status) || header['ending'] !== undefined;

function refuseUnlessCancelled(status: string): void {
  if (status !== 'cancelled') throw new AppError('run_not_cancellable', { run_status: status });
}
