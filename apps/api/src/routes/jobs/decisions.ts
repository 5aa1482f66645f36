import { jobDecisions as endpoint } from '@svc/contract';
import { jobDecisions } from '@svc/jobs';
import { handle } from '../../context';

export const decisions = handle(endpoint, ({ params, query, caller, ctx }) =>
  jobDecisions(ctx.submit, caller.scope, params.id, query.limit),
);
