import { AppError, type Caller } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import { buildRerunSeed } from '@svc/workflow';
import { requireFound } from '../definitions/read-workflows';
import { parseDefinition } from '../definitions/workflow-view';
import { joinIdentities } from '@svc/identity';
import { createRun, toStartedVersion } from './create-run';
import { definitionAuthor } from './definition-author';
import { toRunState } from './run-codec';
import { runAgent } from './run-agent';
import type { StartRunDeps } from './run-deps';
import { startFields } from './start-run';

export interface Rerun {
  runId: string;
  /** Absent = all of it. */
  fromStep?: string;
  dryRun: boolean;
  requestId: string;
  /** Agent that the caller acts as. */
  agentId?: string;
}

/** Metadata about the start of the source run, not copied to the rerun. */
const startMetadata: readonly string[] = [
  'submitter',
  definitionAuthor,
  'request_id',
  'dry_run',
  'parent_run_id',
  'parent_step_id',
  runAgent,
];

/**
 * Starts a run of the newest definition with the input of an earlier run. With `fromStep`, the outputs of the steps before
 * it are copied; the earlier run must have ended then, so that no copied step is compensated afterwards.
 * See docs/reference/workflows.md#runs.
 *
 * @returns id of the new run
 * @throws the codes of `rerunRun` in the contract
 */
export async function rerunRun(deps: StartRunDeps, caller: Caller, wanted: Rerun): Promise<string> {
  const { store } = deps;
  const { fromStep } = wanted;
  const source = toRunState(requireFound(await store.runs.get(caller.scope, wanted.runId), 'run_not_found'));
  const workflow = requireFound(await store.workflows.get(source.org_id, source.workflow_id), 'workflow_not_found');
  if (fromStep !== undefined && !isRunEnded(source.status)) {
    throw new AppError('run_not_rerunnable', { error: 'the run has not ended: only then can it be rerun from a step' });
  }
  const outcome = buildRerunSeed(parseDefinition(workflow), source, fromStep);
  if (outcome.kind === 'bad') throw new AppError('run_not_rerunnable', { error: outcome.message });
  const { dry_run: _dryRun, ...labels } = source.labels ?? {};
  const kept = Object.entries(source.metadata ?? {}).filter(([key]) => !startMetadata.includes(key));
  const rerun = { rerun_of: source.id, ...(fromStep !== undefined && { rerun_step: fromStep }) };
  const call = startFields(caller, wanted);
  const { runId } = await createRun(deps, toStartedVersion(workflow), {
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
        // The starter of the source run still counts as a submitter of the input.
        submitter: joinIdentities(call.metadata.submitter, source.metadata?.['submitter']),
      },
      ...rerun,
    },
  });
  return runId;
}
