import { type ApprovalRepairPlan, isGate } from '@svc/contract';
import { jobStates } from '@svc/lifecycle';
import { type ApprovalRecord, type JobRecord, toResolution } from '@svc/store';
import { requestHash } from '@svc/decision';
import { actionability, getApproval } from '@svc/jobs';
import { type ApprovalDeps, isBound, isSamePolicy } from './decide-approval';
import { approvingEvent, isRunOver } from './resolve-held-job';

export type HeldJob = JobRecord & { approval: ApprovalRecord };
export type RepairKind = ApprovalRepairPlan['kind'];

/** Reason for each kind of repair. */
export const repairReasons: Readonly<Record<RepairKind, string>> = {
  replay_pending_publish: 'the decision is written and not published yet',
  repair_approved_resolution: 'the job is approved and still held',
  repair_rejected_resolution: 'the job is rejected and still held',
  invalidate_terminal_run: 'the workflow run has ended',
  invalidate_stale_snapshot: 'the policy changed since the job was held',
  invalidate_stale_request: 'the request changed since the job was held',
  none: 'there is nothing to repair',
};

/**
 * Determines the first kind of repair that applies to an approval. An approval of a request other than the stored one is
 * invalidated, not repaired. See docs/reference/jobs.md#repair.
 *
 * @throws safety_unavailable
 */
export async function findRepairKind(deps: Pick<ApprovalDeps, 'store' | 'kernel'>, job: HeldJob): Promise<RepairKind> {
  const { approval, state } = job;
  if (job.intent && approval.status !== 'pending') return 'replay_pending_publish';
  if (state !== 'APPROVAL_REQUIRED') return 'none';
  const decision = toResolution(approval);
  if (decision === 'approved' && isBound(job)) return 'repair_approved_resolution';
  if (decision === 'rejected') return 'repair_rejected_resolution';
  if (await isRunOver(deps, job)) return 'invalidate_terminal_run';
  if (!isGate(job.topic) && !(await isSamePolicy(deps.kernel, approval))) return 'invalidate_stale_snapshot';
  return isBound(job) ? 'none' : 'invalidate_stale_request';
}

/** The state transition that applies a repair; undefined when the job keeps its state. */
export function repairingEvent(kind: RepairKind, job: JobRecord): 'release' | 'succeed' | 'deny' | undefined {
  switch (kind) {
    case 'none':
    case 'replay_pending_publish':
      return undefined;
    case 'repair_approved_resolution':
      return approvingEvent(job);
    case 'repair_rejected_resolution':
    case 'invalidate_terminal_run':
    case 'invalidate_stale_snapshot':
    case 'invalidate_stale_request':
      return 'deny';
  }
}

/** Whether a repair has the effect of an approval. Republishing, rejecting and invalidating do not. */
export function releasesJob(kind: RepairKind, job: JobRecord): boolean {
  const event = repairingEvent(kind, job);
  return event === 'release' || event === 'succeed';
}

/** The approval after a repair, without resolver and time. */
export function repairedApproval(kind: RepairKind, job: HeldJob): ApprovalRecord {
  const { approval } = job;
  if (!repairingEvent(kind, job)) return getApproval(job) ?? approval;
  const revision = approval.revision + 1;
  return kind === 'repair_approved_resolution' || kind === 'repair_rejected_resolution'
    ? { ...approval, status: 'repaired', decision: 'repair', revision }
    : { ...approval, status: 'invalidated', decision: 'invalidate', revision };
}

const deadLetterTarget = ({ topic }: JobRecord) => (isGate(topic) ? 'dlq_and_result' : 'dlq');

/** Publication of a resolved approval: the job itself, or its dead letter, which for a gate is also sent to the engine. */
export function publishTarget(job: JobRecord): ApprovalRepairPlan['publish_target'] {
  const approval = getApproval(job);
  if (approval && toResolution(approval) === 'approved') return 'submit';
  return job.state === 'DENIED' ? deadLetterTarget(job) : '';
}

function plannedTarget(kind: RepairKind, job: HeldJob): ApprovalRepairPlan['publish_target'] {
  if (kind === 'none') return '';
  const event = repairingEvent(kind, job);
  if (!event) return publishTarget(job);
  return event === 'deny' ? deadLetterTarget(job) : 'submit';
}

/** API view of a repair, with the resulting approval status and job state. */
export function toPlanView(kind: RepairKind, job: HeldJob): ApprovalRepairPlan {
  const event = repairingEvent(kind, job);
  const target = event ? jobStates.moves[event].to : job.state;
  const approval = repairedApproval(kind, job);
  return {
    job_id: job.id,
    kind,
    repairable: kind !== 'none',
    reason: repairReasons[kind],
    current_state: job.state,
    target_state: target,
    approval_status: approval.status,
    actionability: actionability(approval),
    decision: approval.decision ?? '',
    publish_target: plannedTarget(kind, job),
    topic: job.topic,
    run_id: job.run ?? '',
    request_hash: requestHash(job),
  };
}
