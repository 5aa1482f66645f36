import { AppError, type Caller } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import type { RunRecord } from '@svc/store';
import type { Base } from '@svc/platform';
import { foundOf } from '../definitions/read-workflows';
import { awaitRun } from './await-run';

type CancelRunDeps = Pick<Base, 'store' | 'clock'>;

export interface RunCancel {
  runId: string;
  /** It must be of this workflow. */
  workflowId: string;
  /** Undo what its finished steps did. */
  compensate: boolean;
}

const takenUpMs = 2_000;

/**
 * Cancels a run. That it is wanted is durable once this returns; usually the run has taken it up by then as well.
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
  if (posted.kind !== 'posted') return foundOf<void>(posted, 'run_not_found');
  const run = await awaitRun(deps, runId, isEnding, takenUpMs);
  // Something else ended it before the cancel was heard.
  if (run && isRunEnded(run.status)) refuseUnlessCancelled(run.status);
}

/** It is decided how the run ends, though jobs may still have to answer and finished steps to be undone. */
const isEnding = ({ status, header }: RunRecord): boolean => isRunEnded(status) || header['ending'] !== undefined;

function refuseUnlessCancelled(status: string): void {
  if (status !== 'cancelled') throw new AppError('run_not_cancellable', { run_status: status });
}
