import { explainJob as endpoint } from '@svc/contract';
import { readJobExplanation } from '@svc/explain';
import { handle } from '../../context';

export const explain = handle(endpoint, ({ params, caller, ctx }) =>
  readJobExplanation(ctx.explain, caller.scope, params.id),
);
