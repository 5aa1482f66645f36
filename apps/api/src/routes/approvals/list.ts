import { listApprovals as endpoint } from '@svc/contract';
import { listApprovals } from '@svc/approvals';
import { handle } from '../../context';

export const list = handle(endpoint, ({ query, caller, ctx }) => listApprovals(ctx.approvals, caller, query));
