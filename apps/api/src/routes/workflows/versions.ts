import { workflowVersions } from '@svc/contract';
import { listRevisions } from '@svc/workflows';
import { handle } from '../../context';

export const versions = handle(workflowVersions, ({ params, query, caller, ctx }) =>
  listRevisions(ctx.workflows, caller, params.id, query.limit),
);
