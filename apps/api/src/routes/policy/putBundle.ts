import { putBundle as endpoint } from '@svc/contract';
import { putBundle as put } from '@svc/policy-admin';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const putBundle = handle(endpoint, ({ params, query, body, caller, header, ctx }) =>
  put(ctx.policyDocuments, caller, { ...body, id: bundleIdOf(params, query), ifMatch: header('If-Match') }),
);
