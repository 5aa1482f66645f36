import { putVelocityRule as endpoint } from '@svc/contract';
import { putVelocityRule as put } from '@svc/policy-admin';
import { handle } from '../../context';

export const putVelocityRule = handle(endpoint, ({ params, body, caller, ctx }) =>
  put(ctx.policyDocuments, caller, { id: params.rule_id, body }),
);
