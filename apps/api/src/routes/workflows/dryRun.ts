import { dryRunWorkflow as endpoint } from '@svc/contract';
import { dryRunWorkflow } from '@svc/workflows';
import { handle } from '../../context';

export const dryRun = handle(endpoint, ({ params, body, caller, ctx }) =>
  dryRunWorkflow(ctx.runs, caller, params.id, body),
);
