import { AppError, limits, type Caller } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import { queuePriorities } from '@svc/routing';
import { redactText } from '@svc/scanning';
import type { ApprovalRecord, JobRecord, MoveExtras } from '@svc/store';
import type { Base, JobBus } from '../deps';
import { badEnd } from '../jobs/endings';
import { isGate, requestHash } from '../jobs/job-packet';
import { policyPart } from '../jobs/policy-check';
import { publishIntent } from '../jobs/publish-intent';

export interface ApprovalDeps extends Base {
  kernel: Kernel;
  bus: JobBus;
  senderId: string;
  settings: { deadLetterTtlSec: number };
  onPublishFailed(jobId: string, error: unknown): void;
}

export interface Remarks {
  reason: string;
  note: string;
}

export type ApprovalOutcome =
  | { kind: 'resolved'; job: JobRecord }
  /** Somebody decided the same before; nothing was changed. */
  | { kind: 'repeated'; job: JobRecord; by: string; atUs: number };

/**
 * Approves a held job: it goes back to be routed, with an approval that is bound to its request and to the policy it was
 * held under. Core contract 13.2; engine contract A13. Of any number of callers at once one acts.
 *
 * @throws the codes of `approveJob` in the contract
 */
export async function approveJob(
  deps: ApprovalDeps,
  caller: Caller,
  id: string,
  remarks: Remarks,
): Promise<ApprovalOutcome> {
  const job = await findHeld(deps, caller, id);
  const repeated = answerResolved(job, 'approved');
  if (repeated) return repeated;
  const approval = requirePending(job, caller);
  if (!approval.job_hash || approval.job_hash !== requestHash(job)) throw new AppError('approval_stale_request');
  if (!isGate(job.topic)) await requireSameSnapshot(deps.kernel, approval);

  const approved = resolution(approval, 'approved', caller, remarks, deps.clock.nowUs());
  return decide(deps, caller, job, 'release', {
    set: { approval: approved },
    carry: [
      { queue: 'jobs', suffix: `approved-${approved.revision}`, priority: queuePriorities[job.request.priority] },
    ],
  });
}

/**
 * Rejects a held job: it ends DENIED, with a dead letter. For a workflow gate the DENIED result tells the engine.
 *
 * @throws the codes of `rejectJob` in the contract
 */
export async function rejectJob(
  deps: ApprovalDeps,
  caller: Caller,
  id: string,
  remarks: Remarks,
): Promise<ApprovalOutcome> {
  const job = await findHeld(deps, caller, id);
  const repeated = answerResolved(job, 'rejected');
  if (repeated) return repeated;
  const approval = requirePending(job, caller);
  const nowUs = deps.clock.nowUs();
  const rejected = resolution(approval, 'rejected', caller, remarks, nowUs);
  const ending = {
    event: 'deny',
    code: 'approval_rejected',
    message: rejected.reason || 'approval rejected',
    result: 'DENIED',
  } as const;
  const extras = badEnd(job, ending, nowUs, deps.settings.deadLetterTtlSec);
  return decide(deps, caller, job, 'deny', { ...extras, set: { ...extras.set, approval: rejected } });
}

async function findHeld({ store }: ApprovalDeps, caller: Caller, id: string): Promise<JobRecord> {
  const found = await store.jobs.get(caller.scope, id);
  if (found.kind === 'other_tenant') throw new AppError('approval_forbidden');
  if (found.kind === 'missing') throw new AppError('approval_not_found');
  if (!found.job.approval) throw new AppError('approval_not_actionable');
  return found.job;
}

/** What a caller is told about an approval that is no longer open; undefined while it is. */
function answerResolved(job: JobRecord, wanted: 'approved' | 'rejected'): ApprovalOutcome | undefined {
  const { approval } = job;
  if (!approval || (approval.status === 'pending' && job.state === 'APPROVAL_REQUIRED')) return undefined;
  if (approval.status === wanted) {
    return { kind: 'repeated', job, by: approval.resolved_by ?? '', atUs: approval.resolved_at ?? 0 };
  }
  throw new AppError(job.state === 'TIMEOUT' ? 'approval_not_actionable' : 'approval_already_resolved');
}

function requirePending(job: JobRecord, caller: Caller): ApprovalRecord {
  if (sharesIdentity(job.submitter, caller.submitterId)) throw new AppError('self_approval_denied');
  if (!job.approval || !job.safety?.approval_required) throw new AppError('approval_not_actionable');
  return job.approval;
}

/** Same API key or same principal: `apikey:<hash>|principal:<id>`. */
export function sharesIdentity(submitter: string, decider: string): boolean {
  const parts = (text: string) => text.split('|').filter((part) => !part.endsWith(':'));
  const theirs = new Set(parts(submitter));
  return parts(decider).some((part) => theirs.has(part));
}

async function requireSameSnapshot(kernel: Kernel, approval: ApprovalRecord): Promise<void> {
  const [current] = await kernel.listSnapshots().catch(() => {
    throw new AppError('safety_unavailable', {}, { 'Retry-After': '5' });
  });
  const held = policyPart(approval.policy_snapshot ?? '');
  if (held === '' || held !== policyPart(current ?? '')) throw new AppError('approval_stale_snapshot');
}

function resolution(
  approval: ApprovalRecord,
  status: 'approved' | 'rejected',
  caller: Caller,
  remarks: Remarks,
  nowUs: number,
): ApprovalRecord {
  return {
    ...approval,
    status,
    revision: approval.revision + 1,
    decision: status === 'approved' ? 'approve' : 'reject',
    resolved_by: caller.principalId || caller.keyId,
    resolved_role: caller.role,
    resolved_at: nowUs,
    reason: remark(remarks.reason),
    note: remark(remarks.note),
  };
}

/** Trimmed, without secrets, at most 512 bytes and no torn character at the end. */
export function remark(text: string): string {
  const clean = Buffer.from(redactText(text.trim()));
  if (clean.length <= limits.approvalTextBytes) return clean.toString('utf8');
  return clean
    .subarray(0, limits.approvalTextBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}

async function decide(
  deps: ApprovalDeps,
  caller: Caller,
  job: JobRecord,
  event: 'release' | 'deny',
  extras: MoveExtras,
): Promise<ApprovalOutcome> {
  const guard = { approval: JSON.stringify(job.approval) };
  const outcome = await deps.store.jobs.move(caller.scope, job.id, event, { ...extras, guard });
  if (outcome.kind === 'other_tenant') throw new AppError('approval_forbidden');
  if (outcome.kind === 'missing') throw new AppError('approval_not_found');
  if (outcome.kind !== 'moved') return afterLosing(deps, caller, job.id, event === 'release' ? 'approved' : 'rejected');
  const after = (await deps.store.jobs.load(job.id)) ?? job;
  await publishIntent(deps, after).catch((error: unknown) => deps.onPublishFailed(job.id, error));
  return { kind: 'resolved', job: after };
}

/** Somebody else decided between our read and our write: answer by what they decided. */
async function afterLosing(
  deps: ApprovalDeps,
  caller: Caller,
  id: string,
  wanted: 'approved' | 'rejected',
): Promise<ApprovalOutcome> {
  const settled = answerResolved(await findHeld(deps, caller, id), wanted);
  if (settled) return settled;
  throw new AppError('approval_retryable_lock', { retryable: true }, { 'Retry-After': '1' });
}
