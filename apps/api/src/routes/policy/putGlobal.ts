import { putGlobalPolicy as endpoint } from '@svc/contract';
import { putGlobalPolicy } from '@svc/policy-admin';
import { handle } from '../../context';

export const putGlobal = handle(endpoint, ({ body, caller, ctx }) =>
  putGlobalPolicy(ctx.policyDocuments, caller, body),
);
