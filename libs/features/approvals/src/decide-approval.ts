import { AppError, type Caller, isGate } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import { type ApprovalRecord, type JobRecord, toResolution } from '@svc/store';
import type { EffectiveConfig } from '@svc/settings';
import { isApprovedInput, policyPart, requestHash, unreadableInput } from '@svc/decision';
import {
  type ApprovalDecision,
  buildAnswer,
  buildGateResolved,
  findOwnApproval,
  getApprovals,
  type Remarks,
  resolveApproval,
} from './approval-record';
import { mayResolve, runStarterRuleFor } from './may-resolve';
import { approvingEvent, isRunOver, resolveHeldJob, type ResolveDeps } from './resolve-held-job';

export interface ApprovalDeps extends ResolveDeps {
  kernel: Kernel;
  config: EffectiveConfig;
  /** A person's decision took effect. @param waitedMs since the job was held; absent when its history is unreadable */
  onResolved?(decision: ApprovalDecision, waitedMs: number | undefined): void;
}

export type ApprovalOutcome =
  | { kind: 'resolved'; job: JobRecord }
  /** The approval counts; the gate needs more. */
  | { kind: 'counted'; job: JobRecord; approvals: number; needed: number }
  /** The same decision was already made, by the caller or another person; nothing changed. */
  | { kind: 'repeated'; job: JobRecord; by: string; atUs: number };

/**
 * Approves a held job: it is requeued, with an approval bound to its request and to the policy it was held under. A gate
 * succeeds with the last approval that its rule requires; each approval is posted to its run in the same write. With
 * concurrent callers, exactly the required number of approvals takes effect. See docs/reference/jobs.md#approvals.
 *
 * @throws the codes of `approveJob` in the contract
 */
export const approveJob = (
  deps: ApprovalDeps,
  caller: Caller,
  id: string,
  remarks: Remarks,
): Promise<ApprovalOutcome> => decide(deps, caller, id, { decision: 'approved', remarks });

/**
 * Rejects a held job: it ends DENIED, with a dead letter. A single rejection suffices, whatever the gate's quorum. It is
 * posted to the run in the same write.
 *
 * @throws the codes of `rejectJob` in the contract
 */
export const rejectJob = (deps: ApprovalDeps, caller: Caller, id: string, remarks: Remarks): Promise<ApprovalOutcome> =>
  decide(deps, caller, id, { decision: 'rejected', remarks });

interface Resolution {
  decision: ApprovalDecision;
  remarks: Remarks;
}

/** Bounds the retries on CAS conflicts, so that a hot approval cannot loop forever. */
const MAX_TRIES = 100;

async function decide(
  deps: ApprovalDeps,
  caller: Caller,
  id: string,
  resolution: Resolution,
): Promise<ApprovalOutcome> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const outcome = await tryToDecide(deps, caller, id, resolution);
    if (outcome) return outcome;
  }
  throw conflictError();
}

/** The approval kept changing concurrently. */
export const conflictError = (): AppError =>
  new AppError('approval_retryable_lock', { retryable: true }, { 'Retry-After': '1' });

/** @returns undefined when the approval changed between the read and the write */
async function tryToDecide(
  deps: ApprovalDeps,
  caller: Caller,
  id: string,
  { decision, remarks }: Resolution,
): Promise<ApprovalOutcome | undefined> {
  const job = await findHeld(deps, caller, id);
  const repeated = resolvedOutcome(job, decision);
  if (repeated) return repeated;
  const approval = await requireOpen(deps, job, caller);
  if (decision === 'approved') {
    const own = findOwnApproval(approval, caller);
    if (own) return { kind: 'repeated', job, by: own.by, atUs: own.at };
    if (approval.input_hash === unreadableInput) throw new AppError('approval_not_actionable', { error: unreadable });
    if (!isBound(job) || !(await isApprovedInput(deps.store, job))) throw new AppError('approval_stale_request');
    if (!isGate(job.topic) && !(await isSamePolicy(deps.kernel, approval)))
      throw new AppError('approval_stale_snapshot');
  }
  return write(deps, caller, job, approval, { decision, remarks });
}

async function write(
  deps: ApprovalDeps,
  caller: Caller,
  job: JobRecord,
  before: ApprovalRecord,
  { decision, remarks }: Resolution,
): Promise<ApprovalOutcome | undefined> {
  const nowUs = deps.clock.nowUs();
  const answer = buildAnswer(decision, caller, remarks, nowUs);
  const approval = before.gate ? { ...before, answers: [...(before.answers ?? []), answer] } : before;
  const post = isGate(job.topic) ? buildGateResolved(job.id, answer.approved, answer) : '';
  const [approvals, needed] = [getApprovals(approval).length, approval.gate?.quorum ?? 1];
  if (decision === 'approved' && approval.gate && approvals < needed) {
    const isNoted = await deps.store.jobs.note(
      job.id,
      { states: ['APPROVAL_REQUIRED'], guard: { approval: JSON.stringify(before) }, post },
      { approval: { ...approval, revision: approval.revision + 1 } },
    );
    return isNoted ? { kind: 'counted', job, approvals, needed } : undefined;
  }
  const resolved = resolveApproval(approval, decision, caller, remarks, nowUs);
  const outcome = await resolveHeldJob(deps, caller.scope, job, {
    event: decision === 'approved' ? approvingEvent(job) : 'deny',
    approval: resolved,
    failure: { code: 'approval_rejected', message: resolved.reason || 'approval rejected' },
    post,
  });
  if (outcome.kind !== 'resolved') return undefined;
  deps.onResolved?.(decision, await heldForMs(deps, job.id, nowUs));
  return { kind: 'resolved', job: outcome.job };
}

/** The decision is already written, so an unreadable history is not an error. */
async function heldForMs({ store }: ApprovalDeps, id: string, resolvedUs: number): Promise<number | undefined> {
  const history = await store.jobs.events(id).catch(() => []);
  const held = history.findLast(({ to }) => to === 'APPROVAL_REQUIRED');
  return held && (resolvedUs - held.at) / 1_000;
}

/** @throws approval_not_found, approval_forbidden; approval_not_actionable for a job that was never held */
export async function findHeld(
  { store }: Pick<ApprovalDeps, 'store'>,
  caller: Caller,
  id: string,
): Promise<JobRecord & { approval: ApprovalRecord }> {
  const found = await store.jobs.get(caller.scope, id);
  if (found.kind === 'other_tenant') throw new AppError('approval_forbidden');
  if (found.kind === 'missing') throw new AppError('approval_not_found');
  const { approval } = found.job;
  if (!approval) throw new AppError('approval_not_actionable');
  return { ...found.job, approval };
}

/** The response for an approval that is no longer open; undefined while it is. */
function resolvedOutcome(
  job: JobRecord & { approval: ApprovalRecord },
  wanted: ApprovalDecision,
): ApprovalOutcome | undefined {
  const { approval, state } = job;
  if (approval.status === 'pending' && state === 'APPROVAL_REQUIRED') return undefined;
  if (toResolution(approval) === wanted) {
    return { kind: 'repeated', job, by: approval.resolved_by ?? '', atUs: approval.resolved_at ?? 0 };
  }
  throw new AppError(state === 'TIMEOUT' ? 'approval_not_actionable' : 'approval_already_resolved');
}

/** Checks that apply to both decisions, in order. */
async function requireOpen(
  deps: ApprovalDeps,
  job: JobRecord & { approval: ApprovalRecord },
  caller: Caller,
): Promise<ApprovalRecord> {
  const { approval, safety } = job;
  await requireMayResolve(deps, job, caller);
  const { escalate_to: later, escalated } = approval.gate ?? {};
  // The escalation role may decide only after the gate was escalated.
  if (later && later === caller.role && !escalated) throw new AppError('approval_forbidden', { error: notEscalated });
  if (await isRunOver(deps, job)) throw new AppError('approval_terminal_run');
  // Gates are required by their workflow, independent of policy.
  if (!approval.gate && !safety?.approval_required) throw new AppError('approval_not_actionable');
  return approval;
}

const unreadable =
  'the input is in a store that the platform cannot read, so no approval can cover it; submit it as context';

/** @throws self_approval_denied */
export async function requireMayResolve(
  { config }: Pick<ApprovalDeps, 'config'>,
  job: JobRecord,
  caller: Caller,
): Promise<void> {
  if (!mayResolve(job, caller, await runStarterRuleFor(config, job))) throw new AppError('self_approval_denied');
}

const notEscalated = 'this gate is not escalated to your role yet';

/** The approval covers the stored request. */
export const isBound = (job: JobRecord): boolean =>
  !!job.approval?.job_hash && job.approval.job_hash === requestHash(job);

/**
 * The policy in effect is the one that the job was held under.
 *
 * @throws safety_unavailable
 */
export async function isSamePolicy(kernel: Kernel, approval: ApprovalRecord): Promise<boolean> {
  const [current] = await kernel.listSnapshots().catch(() => {
    throw new AppError('safety_unavailable', {}, { 'Retry-After': '5' });
  });
  const held = policyPart(approval.policy_snapshot ?? '');
  return held !== '' && held === policyPart(current ?? '');
}
