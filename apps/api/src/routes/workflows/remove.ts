import { removeWorkflow as endpoint } from '@svc/contract';
import { removeWorkflow } from '@svc/workflows';
import { handle } from '../../context';

export const remove = handle(endpoint, ({ params, caller, ctx }) => removeWorkflow(ctx.workflows, caller, params.id));
