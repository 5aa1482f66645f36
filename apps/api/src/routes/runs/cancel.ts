import { cancelRun as endpoint } from '@svc/contract';
import { cancelRun } from '@svc/workflows';
import { handle } from '../../context';

export const cancel = handle(endpoint, ({ params, query, caller, ctx }) =>
  cancelRun(ctx.runs, caller, { workflowId: params.id, runId: params.run_id, compensate: query.compensate }),
);
