import { removeBundle as endpoint } from '@svc/contract';
import { removeBundle as remove } from '@svc/policy-admin';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const removeBundle = handle(endpoint, ({ params, query, caller, header, ctx }) =>
  remove(ctx.policyDocuments, caller, { id: bundleIdOf(params, query), ifMatch: header('If-Match') }),
);
