import { AppError, type ApprovalRepairView, type Caller, isGate } from '@svc/contract';
import { type ApprovalRecord, type JobRecord, toResolution } from '@svc/store';
import { actionability, getApproval } from '@svc/jobs';
import { auditEntry } from '@svc/audit';
import { buildGateResolved, cleanRemark, getDeciderName } from './approval-record';
import { type ApprovalDeps, conflictError, findHeld, requireMayResolve } from './decide-approval';
import {
  type HeldJob,
  releasesJob,
  toPlanView,
  publishTarget,
  repairedApproval,
  repairingEvent,
  type RepairKind,
  findRepairKind,
  repairReasons,
} from './repair-plan';
import { publishPending, resolveHeldJob } from './resolve-held-job';

/**
 * Diagnoses an approval and, with `apply`, repairs it in one write: a decision without effect is applied, an approval that
 * can no longer be decided is invalidated, and a pending publication is published. A repair that releases the job requires
 * that the caller may approve it. See docs/reference/jobs.md#repair.
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
  const kind = await findRepairKind(deps, job);
  if (apply && releasesJob(kind, job)) await requireMayResolve(deps, job, caller);
  const found = toView(kind, job, job);
  if (!apply) return found;
  if (kind === 'none') throw new AppError('not_repairable', { ...found, apply });
  const { after, isPublished, applied } = await applyRepair(deps, caller, job, kind, note);
  return { ...toView(kind, job, after), apply, applied, ...(!isPublished && { publish_deferred: true }) };
}

interface RepairResult {
  after: JobRecord;
  applied: boolean;
  isPublished: boolean;
}

async function applyRepair(
  deps: ApprovalDeps,
  caller: Caller,
  job: HeldJob,
  kind: RepairKind,
  note: string,
): Promise<RepairResult> {
  const event = repairingEvent(kind, job);
  const audit = buildAuditEntry(deps, caller, job, kind, note);
  if (!event) {
    const isPublished = await publishPending(deps, job);
    // After a crash here the publication has no audit entry, as if the replayer had published it.
    if (isPublished) await deps.store.policy.recordAudit(job.tenant, audit);
    return { after: (await deps.store.jobs.load(job.id)) ?? job, applied: isPublished, isPublished };
  }
  const outcome = await resolveHeldJob(deps, caller.scope, job, {
    event,
    approval: withResolver(repairedApproval(kind, job), job, caller, {
      nowUs: deps.clock.nowUs(),
      note: cleanRemark(note),
      kind,
    }),
    failure: toFailure(kind, job),
    post: isGate(job.topic) ? buildRunEvent(kind, job) : '',
    audit,
  });
  if (outcome.kind === 'lost') throw conflictError();
  return { after: outcome.job, applied: true, isPublished: outcome.isPublished };
}

/** Entry (JSON) for the policy audit of the job's tenant. */
function buildAuditEntry(deps: ApprovalDeps, caller: Caller, job: HeldJob, kind: RepairKind, note: string): string {
  const { reason, current_state: from, target_state: to, approval_status } = toPlanView(kind, job);
  const entry = auditEntry(
    deps,
    // A caller with access to all tenants is audited under the job's tenant.
    { ...caller, tenant: job.tenant },
    {
      action: 'repair',
      resource_type: 'job',
      resource_id: job.id,
      resource_name: job.topic,
      job_id: job.id,
      message: cleanRemark(note),
      reason,
      extra: { kind, from, to, approval_status },
    },
  );
  return JSON.stringify(entry);
}

/** An existing decision keeps its author; otherwise the caller of the repair becomes the resolver. */
function withResolver(
  approval: ApprovalRecord,
  { approval: before }: HeldJob,
  caller: Caller,
  { nowUs, note, kind }: { nowUs: number; note: string; kind: RepairKind },
): ApprovalRecord {
  const who = getDeciderName(caller);
  const noted = { ...approval, ...(note && { note }) };
  const was = toResolution(before);
  return approval.status === 'repaired' && was
    ? { ...noted, repair: { was, by: who, role: caller.role, at: nowUs } }
    : { ...noted, resolved_by: who, resolved_role: caller.role, resolved_at: nowUs, reason: repairReasons[kind] };
}

const toFailure = (kind: RepairKind, { approval }: HeldJob) =>
  kind === 'repair_rejected_resolution'
    ? { code: 'approval_rejected', message: approval.reason || 'approval rejected' }
    : { code: 'approval_invalidated', message: repairReasons[kind] };

/** Builds the event for the run of a gate: the existing decision, or a rejection because there will be none. */
function buildRunEvent(kind: RepairKind, { id, approval }: HeldJob): string {
  const { resolved_by: by = '', resolved_role: role = '', reason, note } = approval;
  if (kind === 'repair_approved_resolution')
    return buildGateResolved(id, true, { by, role, comment: note || reason || '' });
  if (kind === 'repair_rejected_resolution')
    return buildGateResolved(id, false, { by, role, comment: reason || note || '' });
  return buildGateResolved(id, false, { comment: repairReasons[kind] });
}

const toView = (kind: RepairKind, before: HeldJob, after: JobRecord): ApprovalRepairView => ({
  job_id: after.id,
  apply: false,
  applied: false,
  repairable: kind !== 'none',
  state: after.state,
  trace_id: after.trace_id,
  approval: resolutionView(after),
  plan: toPlanView(kind, before),
});

/** Only the fields that are set. */
function resolutionView(job: JobRecord): ApprovalRepairView['approval'] {
  const approval = getApproval(job);
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
    // An approved job is enqueued by the write that approves it; for the bus only the status is known, not the time.
    ...(target === 'submit' && !job.intent && approval.resolved_at && { published_at: approval.resolved_at }),
  };
}
