import { repairApproval as endpoint } from '@svc/contract';
import { repairApproval } from '@svc/approvals';
import { handle } from '../../context';

export const repair = handle(endpoint, ({ params, body, caller, ctx }) =>
  repairApproval(ctx.approvals, caller, params.job_id, body),
);
