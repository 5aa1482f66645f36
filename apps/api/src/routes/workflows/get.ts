import { getWorkflow as endpoint } from '@svc/contract';
import { getWorkflow } from '@svc/workflows';
import { handle } from '../../context';

export const get = handle(endpoint, ({ params, caller, ctx }) => getWorkflow(ctx.workflows, caller, params.id));
