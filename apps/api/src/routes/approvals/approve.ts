import { approveJob as endpoint } from '@svc/contract';
import { approveJob } from '@svc/approvals';
import { handle } from '../../context';

export const approve = handle(endpoint, async ({ params, body, caller, ctx }) => {
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
});
