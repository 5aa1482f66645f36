import { AppError, type Caller, isGate } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import { type ApprovalRecord, type JobRecord, verdictOf } from '@svc/store';
import type { EffectiveConfig } from '@svc/settings';
import { isApprovedInput, policyPart, requestHash, unreadableInput } from '@svc/decision';
import {
  answerOf,
  approvalsOf,
  gateResolved,
  ownApproval,
  type Remarks,
  resolution,
  type Verdict,
} from './approval-record';
import { mayResolve, runStarterRuleFor } from './may-resolve';
import { approvingEvent, isRunOver, settle, type SettleDeps } from './resolve-held-job';

export interface ApprovalDeps extends SettleDeps {
  kernel: Kernel;
  config: EffectiveConfig;
  /** A person's decision took effect. @param waitedMs since the job was held; absent when its history could not be read */
  onResolved?(verdict: Verdict, waitedMs: number | undefined): void;
}

export type ApprovalOutcome =
  | { kind: 'resolved'; job: JobRecord }
  /** It counts, and the gate waits for more. */
  | { kind: 'counted'; job: JobRecord; approvals: number; needed: number }
  /** Somebody decided the same before, or the caller did; nothing was changed. */
  | { kind: 'repeated'; job: JobRecord; by: string; atUs: number };

/**
 * Approves a held job: it goes back to be routed, with an approval that is bound to its request and to the policy it was
 * held under. A gate of a workflow succeeds with the last approval that its rule asks for; each is told to its run in the
 * same write. See docs/reference/jobs.md#approvals. Of any number of callers at once exactly those act whom it takes.
 *
 * @throws the codes of `approveJob` in the contract
 */
export const approveJob = (
  deps: ApprovalDeps,
  caller: Caller,
  id: string,
  remarks: Remarks,
): Promise<ApprovalOutcome> => decide(deps, caller, id, { verdict: 'approved', remarks });

/**
 * Rejects a held job: it ends DENIED, with a dead letter. One person's word is enough, whatever a gate asks for. Its run
 * hears of it in the same write.
 *
 * @throws the codes of `rejectJob` in the contract
 */
export const rejectJob = (deps: ApprovalDeps, caller: Caller, id: string, remarks: Remarks): Promise<ApprovalOutcome> =>
  decide(deps, caller, id, { verdict: 'rejected', remarks });

interface Word {
  verdict: Verdict;
  remarks: Remarks;
}

/** Each try fails only because somebody else's write came first, so that most are the answer of a person. */
const mostTries = 100;

async function decide(deps: ApprovalDeps, caller: Caller, id: string, word: Word): Promise<ApprovalOutcome> {
  for (let tries = 0; tries < mostTries; tries++) {
    const outcome = await tryToDecide(deps, caller, id, word);
    if (outcome) return outcome;
  }
  throw busy();
}

/** Somebody else changes the same approval all the time. */
export const busy = (): AppError =>
  new AppError('approval_retryable_lock', { retryable: true }, { 'Retry-After': '1' });

/** Undefined: somebody else changed the approval between our read and our write. */
async function tryToDecide(
  deps: ApprovalDeps,
  caller: Caller,
  id: string,
  { verdict, remarks }: Word,
): Promise<ApprovalOutcome | undefined> {
  const job = await findHeld(deps, caller, id);
  const repeated = answerResolved(job, verdict);
  if (repeated) return repeated;
  const approval = await requireOpen(deps, job, caller);
  if (verdict === 'approved') {
    const own = ownApproval(approval, caller);
    if (own) return { kind: 'repeated', job, by: own.by, atUs: own.at };
    if (approval.input_hash === unreadableInput) throw new AppError('approval_not_actionable', { error: unreadable });
    if (!isBound(job) || !(await isApprovedInput(deps.store, job))) throw new AppError('approval_stale_request');
    if (!isGate(job.topic) && !(await isSamePolicy(deps.kernel, approval)))
      throw new AppError('approval_stale_snapshot');
  }
  return write(deps, caller, job, approval, { verdict, remarks });
}

async function write(
  deps: ApprovalDeps,
  caller: Caller,
  job: JobRecord,
  before: ApprovalRecord,
  { verdict, remarks }: Word,
): Promise<ApprovalOutcome | undefined> {
  const nowUs = deps.clock.nowUs();
  const answer = answerOf(verdict, caller, remarks, nowUs);
  const approval = before.gate ? { ...before, answers: [...(before.answers ?? []), answer] } : before;
  const post = isGate(job.topic) ? gateResolved(job.id, answer.approved, answer) : '';
  const [approvals, needed] = [approvalsOf(approval).length, approval.gate?.quorum ?? 1];
  if (verdict === 'approved' && approval.gate && approvals < needed) {
    const isNoted = await deps.store.jobs.note(
      job.id,
      { states: ['APPROVAL_REQUIRED'], guard: { approval: JSON.stringify(before) }, post },
      { approval: { ...approval, revision: approval.revision + 1 } },
    );
    return isNoted ? { kind: 'counted', job, approvals, needed } : undefined;
  }
  const resolved = resolution(approval, verdict, caller, remarks, nowUs);
  const settled = await settle(deps, caller.scope, job, {
    event: verdict === 'approved' ? approvingEvent(job) : 'deny',
    approval: resolved,
    ending: { code: 'approval_rejected', message: resolved.reason || 'approval rejected' },
    post,
  });
  if (settled.kind !== 'settled') return undefined;
  deps.onResolved?.(verdict, await heldForMs(deps, job.id, nowUs));
  return { kind: 'resolved', job: settled.job };
}

/** The decision is written by now, so a history that cannot be read fails nothing. */
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

/** What a caller is told about an approval that is no longer open; undefined while it is. */
function answerResolved(job: JobRecord & { approval: ApprovalRecord }, wanted: Verdict): ApprovalOutcome | undefined {
  const { approval, state } = job;
  if (approval.status === 'pending' && state === 'APPROVAL_REQUIRED') return undefined;
  if (verdictOf(approval) === wanted) {
    return { kind: 'repeated', job, by: approval.resolved_by ?? '', atUs: approval.resolved_at ?? 0 };
  }
  throw new AppError(state === 'TIMEOUT' ? 'approval_not_actionable' : 'approval_already_resolved');
}

/** The checks that both verdicts share, in their order. */
async function requireOpen(
  deps: ApprovalDeps,
  job: JobRecord & { approval: ApprovalRecord },
  caller: Caller,
): Promise<ApprovalRecord> {
  const { approval, safety } = job;
  await requireMayResolve(deps, job, caller);
  const { escalate_to: later, escalated } = approval.gate ?? {};
  // Who is named for the escalation stands in for those who did not answer, and not before.
  if (later && later === caller.role && !escalated) throw new AppError('approval_forbidden', { error: notEscalated });
  if (await isRunOver(deps, job)) throw new AppError('approval_terminal_run');
  // A workflow asks for its gates itself, whatever policy says of them.
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

/** The request is the one that the approval is for. */
export const isBound = (job: JobRecord): boolean =>
  !!job.approval?.job_hash && job.approval.job_hash === requestHash(job);

/**
 * The policy in force is the one that the job was held under.
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
