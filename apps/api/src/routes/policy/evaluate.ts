import { evaluatePolicy as endpoint } from '@svc/contract';
import { evaluatePolicy } from '@svc/services';
import { handle } from '../../context';

export const evaluate = handle(endpoint, ({ body, caller, requestId, ctx }) =>
  evaluatePolicy(ctx.policyEvaluate, { caller, requestId }, body),
);
