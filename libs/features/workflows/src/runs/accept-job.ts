import { isGate, limits } from '@svc/contract';
import { queuePriorities } from '@svc/routing';
import type { Acceptance, JobRecord, Placed, StoredRequest } from '@svc/store';
import type { OpenJob, RunState, WorkflowDefinition } from '@svc/workflow';
import { deadline, memoryClaim, newJobRecord } from '@svc/jobs';
import { turnCost } from '@svc/settings';
import { type LiveDecision, requestHash, safetyFields } from '@svc/decision';
import { definitionAuthor } from './definition-author';
import { type Permit, permitJob } from './permit-job';
import { checkRunAgent } from './run-agent';
import type { RunDeps, TurnDeps } from './run-deps';

/** A planned run with its definition. */
export interface PlannedRun {
  run: RunState;
  definition: WorkflowDefinition;
  /** By Redis' clock, so that deadlines do not depend on an engine's clock. */
  nowMs: number;
}

/** A run that this process holds the lock of. */
export interface OwnedRun extends PlannedRun {
  /** Lock owner; writes are fenced on it. */
  owner: string;
}

/** The fields of the accepting write that depend on the decision. */
export interface Creation extends Pick<Acceptance, 'next' | 'decision'> {
  safety?: JobRecord['safety'];
  /** The decision to report to shadow policies: this job is not evaluated again. */
  live?: LiveDecision;
}

export interface NewJob extends Creation {
  id: string;
  /** Step or item; absent for a compensation. */
  path?: string;
  request: StoredRequest;
  document: object;
  /** The run retries the step if this job fails. */
  retried?: boolean;
}

/** The job is rejected permanently; a retry cannot succeed. */
export class JobRefused extends Error {
  constructor(
    message: string,
    readonly code = 'job_refused',
  ) {
    super(message);
  }
}

/**
 * Accepts a job. Idempotent: an existing job with this id is kept.
 *
 * @returns the open job of its singleton key, if that answers for it: then no job was created
 * @throws JobRefused, not retryable; backpressure, overloaded, and a changed agent: retried later; Fenced
 */
export async function acceptJob(deps: RunDeps, owned: OwnedRun, job: NewJob): Promise<OpenJob | undefined> {
  const prepared = await prepareJob(deps, owned, job);
  const { acceptance, bytes } = prepared;
  const fence = { run: owned.run.id, owner: owned.owner };
  const outcome = await deps.admission.job(acceptance.tenant, bytes, () =>
    deps.store.jobs.accept({ ...acceptance, fence }),
  );
  if (outcome.kind === 'memory_taken') {
    throw new JobRefused(`the memory ${acceptance.memory?.id ?? ''} belongs to another tenant`);
  }
  if (outcome.kind === 'singleton') {
    const open = { job_id: outcome.jobId, trace_id: outcome.traceId };
    if (job.request.limits?.singleton?.mode === 'return') return open;
    throw new JobRefused(`job ${open.job_id} with its singleton key is open`, 'singleton_conflict');
  }
  if (outcome.kind === 'agent_changed') throw new Error('the agent of the job was changed: it is checked again');
  // A repeated pass finds the job, whose decision was reported when it was created.
  if (outcome.kind !== 'accepted') return undefined;
  settleJob(deps, prepared, outcome.placed);
  if (outcome.cancelled) deps.onCancelled(outcome.cancelled);
  return undefined;
}

/** Follows the write that has created a job: reports its decision, and publishes its dispatch in the background. */
export function settleJob(deps: TurnDeps, { live, permit }: PreparedJob, placed: Placed): void {
  if (live) deps.shadows.decided(live);
  if (permit && placed.kind !== 'queued') deps.shadows.decided(permit.live);
  permit?.proposal?.settle(placed);
}

/** A job as the accepting call stores it. */
export interface PreparedJob {
  acceptance: Acceptance;
  /** Size of its input. */
  bytes: number;
  /** The decision to report to shadow policies once the job exists. */
  live?: LiveDecision | undefined;
  permit?: Permit | undefined;
}

/** Asks policy about a new job, and proposes its place. @throws JobRefused when its input is too large, or its agent may not run it */
export async function prepareJob(
  deps: TurnDeps,
  { run, nowMs }: PlannedRun,
  { id, path, request, document, retried, live, safety, ...creation }: NewJob,
): Promise<PreparedJob> {
  const { org_id: tenant, triggered_by = '' } = run;
  const context = JSON.stringify(document);
  const bytes = Buffer.byteLength(context);
  if (bytes > limits.contextBytes) {
    throw new JobRefused(`the input of the job has ${bytes} bytes, and ${limits.contextBytes} are allowed`);
  }
  const config = await deps.config.at(toConfigScope(run));
  const { topic, memory_id: memoryId } = request;
  const agent = await checkRunAgent(deps, { id, tenant, topic, request });
  if (agent?.kind === 'refused')
    throw new JobRefused(`its agent does not permit the job: ${agent.reason}`, 'agent_denied');
  const author = run.metadata?.[definitionAuthor];
  const memory = memoryId === `run:${run.id}` ? undefined : await memoryClaim(deps.config, memoryId);
  const fields = {
    request,
    submitter: run.metadata?.['submitter'] ?? `workflow:${run.workflow_id}|principal:${triggered_by}`,
    job_hash: requestHash({ id, tenant, topic, request }),
    deadline_ms: isGate(topic) ? 0 : deadline(request.deadline_ms, config, nowMs, false),
    run: run.id,
    ...(author !== undefined && { author }),
    ...(path !== undefined && { run_path: path }),
    ...(retried && { letter: 'withhold' as const }),
    ...(safety && { safety }),
    ...agent?.fields,
  };
  // The scheduler asks policy with the facts about an agent.
  const isDecided = creation.next !== undefined || isGate(topic) || agent !== undefined;
  const nowUs = nowMs * 1_000;
  const record = newJobRecord({ id, tenant, trace_id: run.id, topic, ...fields }, nowUs);
  const permit = isDecided ? undefined : await permitJob(deps, record, { document: { ...document }, context, nowUs });
  const acceptance: Acceptance = {
    id,
    tenant,
    traceId: run.id,
    topic,
    fields: { ...fields, ...(permit && safetyFields(permit.decision)) },
    context,
    priority: queuePriorities[request.priority],
    turnCost: turnCost(config),
    activeLimit: 0,
    ...(memory && { memory }),
    ...creation,
    ...(permit && { decision: permit.decision }),
    ...(permit?.proposal && { place: permit.proposal.place }),
  };
  return { acceptance, bytes, live, permit };
}

/** Config scope of a run. */
export const toConfigScope = ({ org_id, team_id, workflow_id }: RunState) => ({
  tenant: org_id,
  team: team_id,
  workflow: workflow_id,
});
