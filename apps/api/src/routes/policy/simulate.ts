import { simulatePolicy as endpoint } from '@svc/contract';
import { simulatePolicy } from '@svc/policy-lab';
import { handle } from '../../context';

export const simulate = handle(endpoint, ({ body, caller, requestId, ctx }) =>
  simulatePolicy(ctx.policyEvaluate, { caller, requestId }, body),
);
