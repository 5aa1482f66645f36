import { putWorkflow } from '@svc/contract';
import { saveWorkflow } from '@svc/workflows';
import { handle } from '../../context';

export const put = handle(putWorkflow, ({ body, caller, ctx }) => saveWorkflow(ctx.workflows, caller, body));
