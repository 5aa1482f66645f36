import { explainPolicy as endpoint } from '@svc/contract';
import { explainPolicy } from '@svc/policy-lab';
import { handle } from '../../context';

export const explain = handle(endpoint, ({ body, caller, requestId, ctx }) =>
  explainPolicy(ctx.policyEvaluate, { caller, requestId }, body),
);
