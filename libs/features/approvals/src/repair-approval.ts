import { AppError, type ApprovalRepairView, type Caller, isGate } from '@svc/contract';
import { type ApprovalRecord, type JobRecord, verdictOf } from '@svc/store';
import { actionability, approvalOf } from '@svc/jobs';
import { auditEntry } from '@svc/audit';
import { gateResolved, nameOf, remark } from './approval-record';
import { type ApprovalDeps, busy, findHeld, requireMayResolve } from './decide-approval';
import {
  type Held,
  letsGoOn,
  planView,
  publishTarget,
  repairedApproval,
  repairingEvent,
  type RepairKind,
  repairKindOf,
  repairReasons,
} from './repair-plan';
import { settle, tell } from './resolve-held-job';

/**
 * Says what is wrong with an approval and, when asked, mends it in one write: a decision that had stuck is carried out, a
 * job that nobody can decide any more is voided, and what was not published is. A repair that lets the job go on is refused
 * to callers who may not approve the job themselves. See docs/reference/jobs.md#repair.
 *
 * @throws the codes of `repairApproval` in the contract
 */
export async function repairApproval(
  deps: ApprovalDeps,
  caller: Caller,
  id: string,
  { apply, note = '' }: { apply: boolean; note?: string },
): Promise<ApprovalRepairView> {
  const job = await findHeld(deps, caller, id);
  const kind = await repairKindOf(deps, job);
  if (apply && letsGoOn(kind, job)) await requireMayResolve(deps, job, caller);
  const found = viewOf(kind, job, job);
  if (!apply) return found;
  if (kind === 'none') throw new AppError('not_repairable', { ...found, apply });
  const { after, isPublished, applied } = await mend(deps, caller, job, kind, note);
  return { ...viewOf(kind, job, after), apply, applied, ...(!isPublished && { publish_deferred: true }) };
}

interface Mended {
  after: JobRecord;
  applied: boolean;
  isPublished: boolean;
}

async function mend(deps: ApprovalDeps, caller: Caller, job: Held, kind: RepairKind, note: string): Promise<Mended> {
  const event = repairingEvent(kind, job);
  const audit = auditOf(deps, caller, job, kind, note);
  if (!event) {
    const isPublished = await tell(deps, job);
    // If the process dies here the publication has no entry, as when the replayer had made it.
    if (isPublished) await deps.store.policy.recordAudit(job.tenant, audit);
    return { after: (await deps.store.jobs.load(job.id)) ?? job, applied: isPublished, isPublished };
  }
  const settled = await settle(deps, caller.scope, job, {
    event,
    approval: signed(repairedApproval(kind, job), job, caller, { nowUs: deps.clock.nowUs(), note: remark(note), kind }),
    ending: endingOf(kind, job),
    post: isGate(job.topic) ? heardBy(kind, job) : '',
    audit,
  });
  if (settled.kind === 'lost') throw busy();
  return { after: settled.job, applied: true, isPublished: settled.isPublished };
}

/** Entry (JSON) of the policy audit of the job's tenant. */
function auditOf(deps: ApprovalDeps, caller: Caller, job: Held, kind: RepairKind, note: string): string {
  const { reason, current_state: from, target_state: to, approval_status } = planView(kind, job);
  const entry = auditEntry(
    deps,
    // A caller who may act for all tenants acts for this one.
    { ...caller, tenant: job.tenant },
    {
      action: 'repair',
      resource_type: 'job',
      resource_id: job.id,
      resource_name: job.topic,
      job_id: job.id,
      message: remark(note),
      reason,
      extra: { kind, from, to, approval_status },
    },
  );
  return JSON.stringify(entry);
}

/** A decision that had stuck stays that of who made it; what nobody decided is resolved by whoever repairs it. */
function signed(
  approval: ApprovalRecord,
  { approval: before }: Held,
  caller: Caller,
  { nowUs, note, kind }: { nowUs: number; note: string; kind: RepairKind },
): ApprovalRecord {
  const who = nameOf(caller);
  const noted = { ...approval, ...(note && { note }) };
  const was = verdictOf(before);
  return approval.status === 'repaired' && was
    ? { ...noted, repair: { was, by: who, role: caller.role, at: nowUs } }
    : { ...noted, resolved_by: who, resolved_role: caller.role, resolved_at: nowUs, reason: repairReasons[kind] };
}

const endingOf = (kind: RepairKind, { approval }: Held) =>
  kind === 'repair_rejected_resolution'
    ? { code: 'approval_rejected', message: approval.reason || 'approval rejected' }
    : { code: 'approval_invalidated', message: repairReasons[kind] };

/** What the run of a gate hears: the decision that had stuck, or that there will be none. */
function heardBy(kind: RepairKind, { id, approval }: Held): string {
  const { resolved_by: by = '', resolved_role: role = '', reason, note } = approval;
  if (kind === 'repair_approved_resolution') return gateResolved(id, true, { by, role, comment: note || reason || '' });
  if (kind === 'repair_rejected_resolution')
    return gateResolved(id, false, { by, role, comment: reason || note || '' });
  return gateResolved(id, false, { comment: repairReasons[kind] });
}

const viewOf = (kind: RepairKind, before: Held, after: JobRecord): ApprovalRepairView => ({
  job_id: after.id,
  apply: false,
  applied: false,
  repairable: kind !== 'none',
  state: after.state,
  trace_id: after.trace_id,
  approval: resolutionView(after),
  plan: planView(kind, before),
});

/** Only what is set. */
function resolutionView(job: JobRecord): ApprovalRepairView['approval'] {
  const approval = approvalOf(job);
  if (!approval) return {};
  const target = publishTarget(job);
  return {
    ...(approval.resolved_by && { approved_by: approval.resolved_by }),
    ...(approval.resolved_role && { approved_role: approval.resolved_role }),
    ...(approval.resolved_at && { approved_at: approval.resolved_at }),
    ...(approval.reason && { reason: approval.reason }),
    ...(approval.note && { note: approval.note }),
    ...(approval.policy_snapshot && { policy_snapshot: approval.policy_snapshot }),
    ...(approval.job_hash && { job_hash: approval.job_hash }),
    status: approval.status,
    actionability: actionability(approval),
    revision: approval.revision,
    ...(approval.decision && { decision: approval.decision }),
    ...(target && { publish_status: job.intent ? 'pending' : 'published', publish_target: target }),
    // The entry that carries an approved job is a part of the write that approves it; of the bus we know only whether.
    ...(target === 'submit' && !job.intent && approval.resolved_at && { published_at: approval.resolved_at }),
  };
}
