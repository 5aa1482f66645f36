import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { approvalContext } from './approval-context';
import { type ApprovalDeps, approveJob, rejectJob } from './decide-approval';
import { listApprovals } from './list-approvals';
import { repairApproval } from './repair-approval';

/** Dependencies of these handlers. */
export interface ApprovalContext {
  approvals: ApprovalDeps;
}

const handle = handlersFor<ApprovalContext>();

/** Held jobs and approval steps. */
export const approvalRoutes = [
  handle(contract.listApprovals, ({ query, caller, ctx }) => listApprovals(ctx.approvals, caller, query)),
  handle(contract.approveJob, async ({ params, body, caller, ctx }) => {
    const outcome = await approveJob(ctx.approvals, caller, params.job_id, body);
    const ref = { job_id: outcome.job.id, trace_id: outcome.job.trace_id };
    switch (outcome.kind) {
      case 'resolved':
        return ref;
      case 'counted':
        return { ...ref, approvals: outcome.approvals, approvals_needed: outcome.needed };
      case 'repeated':
        return { ...ref, status: 'already_approved', approved_by: outcome.by, approved_at: outcome.atUs };
    }
  }),
  handle(contract.rejectJob, async ({ params, body, caller, ctx }) => {
    const outcome = await rejectJob(ctx.approvals, caller, params.job_id, body);
    const { id: job_id } = outcome.job;
    return outcome.kind === 'repeated'
      ? { job_id, status: 'already_rejected', rejected_by: outcome.by, rejected_at: outcome.atUs }
      : { job_id };
  }),
  handle(contract.repairApproval, ({ params, body, caller, ctx }) =>
    repairApproval(ctx.approvals, caller, params.job_id, body),
  ),
  handle(contract.approvalContext, ({ params, caller, ctx }) => approvalContext(ctx.approvals, caller, params.job_id)),
];
