import { listWorkflows as endpoint } from '@svc/contract';
import { listWorkflows } from '@svc/workflows';
import { handle } from '../../context';

export const list = handle(endpoint, ({ query, caller, ctx }) => listWorkflows(ctx.workflows, caller, query.org_id));
