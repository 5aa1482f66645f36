import { AppError, type Caller } from '@svc/contract';
import { fingerprint } from '@svc/json';
import { requireFound } from '../definitions/read-workflows';
import { type CreatedRun, createRun, toStartedVersion } from './create-run';
import { runAgent } from './run-agent';
import type { StartRunDeps } from './run-deps';

export interface RunStart {
  workflowId: string;
  input: Record<string, unknown>;
  teamId?: string;
  orgId?: string;
  dryRun: boolean;
  idempotencyKey?: string;
  requestId?: string;
  /** Agent that the caller acts as. */
  agentId?: string;
}

/** Fields of a new run that record the caller and the mode. See docs/reference/workflows.md#runs. */
export const startFields = (
  caller: Caller,
  { dryRun, requestId, agentId }: Pick<RunStart, 'dryRun' | 'requestId' | 'agentId'>,
) => ({
  triggered_by: caller.principalId,
  metadata: {
    submitter: caller.submitterId,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(dryRun && { dry_run: 'true' }),
    ...(agentId !== undefined && { [runAgent]: agentId }),
  },
  ...(dryRun && { dry_run: true, labels: { dry_run: 'true' } }),
});

/**
 * Starts a run of the newest version of a workflow.
 *
 * @throws the codes of `startRun` in the contract
 */
export async function startRun(deps: StartRunDeps, caller: Caller, start: RunStart): Promise<CreatedRun> {
  const { store } = deps;
  if (start.orgId && start.orgId !== caller.tenant) throw new AppError('tenant_access_denied');
  const { version: newest, ...facts } = requireFound(
    await store.runs.readStart(caller.scope, start.workflowId),
    'workflow_not_found',
  );
  const { tenant, number, writtenAt, author } = newest;
  const requestHash = fingerprint([start.input, start.dryRun, start.teamId]);
  if (start.idempotencyKey) {
    // A repeat gets the stored response even when the input would no longer be accepted.
    const earlier = await store.runs.reserved(tenant, start.workflowId, start.idempotencyKey);
    if (earlier && earlier.hash !== requestHash) throw new AppError('run_idempotency_conflict');
    if (earlier?.answer) return { runId: earlier.answer, replayed: true };
  }
  const definition = await deps.definitions.find(tenant, start.workflowId, number, writtenAt);
  if (!definition) throw new AppError('workflow_not_found');
  const version = { id: start.workflowId, tenant, version: number, written_at: writtenAt, author, definition, facts };
  return createRun(deps, version, {
    input: start.input,
    of: {
      ...startFields(caller, start),
      ...(start.teamId && { team_id: start.teamId }),
      ...(start.idempotencyKey && { idempotency_key: start.idempotencyKey }),
    },
    ...(start.idempotencyKey && { idempotency: { key: start.idempotencyKey, fingerprint: requestHash } }),
  });
}

/** A start without a caller, such as a scheduled one. */
export interface UnattendedStart {
  tenant: string;
  workflowId: string;
  input: Record<string, unknown>;
  /** Principal that the run is attributed to. */
  by: string;
  /** Identities of the authors of the trigger. */
  submitter: string;
  /** Agent of the trigger. */
  agentId?: string;
  idempotencyKey: string;
  labels?: Record<string, string>;
}

/** @throws as {@link startRun} */
export async function startUnattended(deps: StartRunDeps, start: UnattendedStart): Promise<CreatedRun> {
  const workflow = requireFound(await deps.store.workflows.get(start.tenant, start.workflowId), 'workflow_not_found');
  const { idempotencyKey, labels, submitter, agentId } = start;
  return createRun(deps, toStartedVersion(workflow), {
    input: start.input,
    of: {
      triggered_by: start.by,
      metadata: { submitter, ...(agentId !== undefined && { [runAgent]: agentId }) },
      idempotency_key: idempotencyKey,
      ...(labels && { labels }),
    },
    idempotency: { key: idempotencyKey, fingerprint: fingerprint(start.input) },
  });
}
