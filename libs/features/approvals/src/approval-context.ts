import { AppError, type ApprovalContextView, type Caller, type PriorApproval } from '@svc/contract';
import { type JobRecord, type Store, verdictOf } from '@svc/store';
import type { Clock } from '@svc/platform';
import { findJob, readContext } from '@svc/jobs';
import { approvalView } from './approval-view';

const most = 10;
const backUs = 30 * 86_400e6;
const chunk = 200;
/** Of a tenant with very many approvals, no more are looked through for those of one topic. */
const mostRows = 2_000;

/**
 * What a person needs to know to decide, and how like cases were decided. See docs/reference/jobs.md#approvals.
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

/** Until nobody can decide any more, ms; null when nothing ends the wait, and once it is over. */
function timeRemaining({ state, approval, deadline_ms }: JobRecord, nowMs: number): number | null {
  if (state !== 'APPROVAL_REQUIRED' || approval?.status !== 'pending') return null;
  const ends = [deadline_ms, (approval.expires_at ?? 0) / 1_000].filter((endMs) => endMs > 0);
  return ends.length > 0 ? Math.max(0, Math.floor(Math.min(...ends) - nowMs)) : null;
}

/** What people decided of jobs of the same topic and tenant, newest first. */
async function priorApprovals(
  { store, clock }: { store: Store; clock: Clock },
  job: JobRecord,
): Promise<PriorApproval[]> {
  const oldestUs = clock.nowUs() - backUs;
  const found: PriorApproval[] = [];
  let upper = Infinity;
  for (let seen = 0; seen < mostRows && found.length < most; seen += chunk) {
    const rows = await store.index.approvals(job.tenant, upper, chunk);
    const others = rows.filter(({ id, atUs }) => id !== job.id && atUs >= oldestUs);
    const jobs = await store.index.records(others.map(({ id }) => id));
    found.push(...jobs.filter(({ topic }) => topic === job.topic).flatMap((other) => priorOf(other, oldestUs)));
    const last = rows.at(-1);
    if (rows.length < chunk || !last || last.atUs < oldestUs) break;
    upper = last.atUs - 1;
  }
  return found.sort((a, b) => b.resolved_at - a.resolved_at).slice(0, most);
}

function priorOf({ id, topic, tenant, approval }: JobRecord, oldestUs: number): PriorApproval[] {
  const verdict = approval && verdictOf(approval);
  if (!approval?.resolved_by || !approval.resolved_at || !verdict || approval.resolved_at < oldestUs) return [];
  const was_approved = verdict === 'approved';
  const decision = was_approved ? 'approve' : 'reject';
  const { resolved_by, resolved_at } = approval;
  return [{ job_id: id, topic, tenant, decision, resolved_by, resolved_at, was_approved }];
}
