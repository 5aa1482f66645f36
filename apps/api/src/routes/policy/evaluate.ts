import { evaluatePolicy as endpoint } from '@svc/contract';
import { evaluatePolicy } from '@svc/policy-lab';
import { handle } from '../../context';

export const evaluate = handle(endpoint, ({ body, caller, requestId, ctx }) =>
  evaluatePolicy(ctx.policyEvaluate, { caller, requestId }, body),
);
