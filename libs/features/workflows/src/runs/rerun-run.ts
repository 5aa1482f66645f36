import { AppError, type Caller } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import { seedOf } from '@svc/workflow';
import { foundOf } from '../definitions/read-workflows';
import { definitionOf } from '../definitions/workflow-view';
import { joinIdentities } from '@svc/identity';
import { createRun, definitionAuthor } from './create-run';
import { runStateOf } from './run-codec';
import type { StartRunDeps } from './run-deps';
import { callOf } from './start-run';

export interface Rerun {
  runId: string;
  /** Absent = all of it. */
  fromStep?: string;
  dryRun: boolean;
  requestId: string;
}

/** Metadata that says how a run came to be, and so is not the new one's. */
const ofTheFirst: readonly string[] = [
  'submitter',
  definitionAuthor,
  'request_id',
  'dry_run',
  'parent_run_id',
  'parent_step_id',
];

/**
 * Runs again, by the newest definition, with the input of an earlier run; from a step on with what that run's steps before
 * it gave. Then it must have ended, so that nothing that is taken over is undone afterwards.
 * See docs/reference/workflows.md#runs.
 *
 * @returns id of the new run
 * @throws the codes of `rerunRun` in the contract
 */
export async function rerunRun(deps: StartRunDeps, caller: Caller, wanted: Rerun): Promise<string> {
  const { store } = deps;
  const { fromStep } = wanted;
  const source = runStateOf(foundOf(await store.runs.get(caller.scope, wanted.runId), 'run_not_found'));
  const workflow = foundOf(await store.workflows.get(source.org_id, source.workflow_id), 'workflow_not_found');
  if (fromStep !== undefined && !isRunEnded(source.status)) {
    throw new AppError('run_not_rerunnable', { error: 'the run has not ended: only then can it be rerun from a step' });
  }
  const outcome = seedOf(definitionOf(workflow), source, fromStep);
  if (outcome.kind === 'bad') throw new AppError('run_not_rerunnable', { error: outcome.message });
  const { dry_run: _dryRun, ...labels } = source.labels ?? {};
  const kept = Object.entries(source.metadata ?? {}).filter(([key]) => !ofTheFirst.includes(key));
  const rerun = { rerun_of: source.id, ...(fromStep !== undefined && { rerun_step: fromStep }) };
  const call = callOf(caller, wanted);
  const { runId } = await createRun(deps, workflow, {
    input: source.input,
    seed: outcome.seed,
    of: {
      ...(source.team_id && { team_id: source.team_id }),
      ...call,
      labels: { ...labels, ...call.labels },
      metadata: {
        ...Object.fromEntries(kept),
        ...rerun,
        ...call.metadata,
        // The input is still the first starter's.
        submitter: joinIdentities(call.metadata.submitter, source.metadata?.['submitter']),
      },
      ...rerun,
    },
  });
  return runId;
}
