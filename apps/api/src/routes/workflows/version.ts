import { workflowVersion } from '@svc/contract';
import { getRevision } from '@svc/workflows';
import { handle } from '../../context';

export const version = handle(workflowVersion, ({ params, caller, ctx }) =>
  getRevision(ctx.workflows, caller, params.id, Number(params.revision)),
);
