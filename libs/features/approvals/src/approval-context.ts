import { AppError, type ApprovalContextView, type Caller, type PriorApproval } from '@svc/contract';
import { type JobRecord, type Store, toResolution } from '@svc/store';
import type { Clock } from '@svc/platform';
import { findJob, readContext } from '@svc/jobs';
import { approvalView } from './approval-view';

const maxPriorApprovals = 10;
const lookbackUs = 30 * 86_400e6;
const pageSize = 200;
/** Bounds the search for approvals of one topic in a tenant with very many. */
const maxRows = 2_000;

/**
 * The context for deciding an approval, with earlier decisions on the same topic. See docs/reference/jobs.md#approvals.
 *
 * @throws job_not_found, tenant_access_denied; approval_not_found for a job that was never held
 */
export async function approvalContext(
  deps: { store: Store; clock: Clock },
  caller: Caller,
  id: string,
): Promise<ApprovalContextView> {
  const { store, clock } = deps;
  const job = await findJob(deps, caller.scope, id);
  if (!job.approval) throw new AppError('approval_not_found');
  const [context, prior_approvals] = await Promise.all([readContext(store, job), priorApprovals(deps, job)]);
  const { job: _, ...view } = approvalView(job, context);
  return {
    approval: { job_id: job.id, state: job.state, ...view },
    blast_radius: view.blast_radius,
    prior_approvals,
    rollback_hint: view.rollback_hint,
    policy_snapshot_summary: view.policy_snapshot_summary,
    time_remaining_ms: timeRemaining(job, clock.nowMs()),
    constraints: view.constraints,
  };
}

/** Time left to decide, ms; null without an expiry, or when the approval is no longer open. */
function timeRemaining({ state, approval, deadline_ms }: JobRecord, nowMs: number): number | null {
  if (state !== 'APPROVAL_REQUIRED' || approval?.status !== 'pending') return null;
  const ends = [deadline_ms, (approval.expires_at ?? 0) / 1_000].filter((endMs) => endMs > 0);
  return ends.length > 0 ? Math.max(0, Math.floor(Math.min(...ends) - nowMs)) : null;
}

/** Earlier resolutions of jobs with the same topic and tenant, newest first. */
async function priorApprovals(
  { store, clock }: { store: Store; clock: Clock },
  job: JobRecord,
): Promise<PriorApproval[]> {
  const oldestUs = clock.nowUs() - lookbackUs;
  const found: PriorApproval[] = [];
  let upper = Infinity;
  for (let seen = 0; seen < maxRows && found.length < maxPriorApprovals; seen += pageSize) {
    const rows = await store.index.approvals(job.tenant, upper, pageSize);
    const others = rows.filter(({ id, atUs }) => id !== job.id && atUs >= oldestUs);
    const jobs = await store.index.records(others.map(({ id }) => id));
    found.push(...jobs.filter(({ topic }) => topic === job.topic).flatMap((other) => toPriorApproval(other, oldestUs)));
    const last = rows.at(-1);
    if (rows.length < pageSize || !last || last.atUs < oldestUs) break;
    upper = last.atUs - 1;
  }
  return found.sort((a, b) => b.resolved_at - a.resolved_at).slice(0, maxPriorApprovals);
}

function toPriorApproval({ id, topic, tenant, approval }: JobRecord, oldestUs: number): PriorApproval[] {
  const decided = approval && toResolution(approval);
  if (!approval?.resolved_by || !approval.resolved_at || !decided || approval.resolved_at < oldestUs) return [];
  const was_approved = decided === 'approved';
  const decision = was_approved ? 'approve' : 'reject';
  const { resolved_by, resolved_at } = approval;
  return [{ job_id: id, topic, tenant, decision, resolved_by, resolved_at, was_approved }];
}
