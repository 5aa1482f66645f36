import { runsOfWorkflow as endpoint } from '@svc/contract';
import { runsOfWorkflow } from '@svc/workflows';
import { handle } from '../../context';

export const ofWorkflow = handle(endpoint, ({ params, caller, ctx }) => runsOfWorkflow(ctx.runs, caller, params.id));
