import { explainRun as endpoint } from '@svc/contract';
import { readRunExplanation } from '@svc/explain';
import { handle } from '../../context';

export const explain = handle(endpoint, ({ params, caller, ctx }) =>
  readRunExplanation(ctx.explain, caller.scope, params.id),
);
