import { approvalContext as endpoint } from '@svc/contract';
import { approvalContext } from '@svc/approvals';
import { handle } from '../../context';

export const context = handle(endpoint, ({ params, caller, ctx }) =>
  approvalContext(ctx.approvals, caller, params.job_id),
);
