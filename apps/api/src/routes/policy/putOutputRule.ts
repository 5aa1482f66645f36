import { putOutputRule as endpoint } from '@svc/contract';
import { putOutputRule as put } from '@svc/policy-admin';
import { handle } from '../../context';

export const putOutputRule = handle(endpoint, ({ params, body, caller, ctx }) =>
  put(ctx.policyDocuments, caller, { id: params.rule_id, ...body }),
);
