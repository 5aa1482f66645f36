import { removeVelocityRule as endpoint } from '@svc/contract';
import { removeVelocityRule as remove } from '@svc/policy-admin';
import { handle } from '../../context';

export const removeVelocityRule = handle(endpoint, ({ params, caller, ctx }) =>
  remove(ctx.policyDocuments, caller, params.rule_id),
);
