import { putShadow as endpoint } from '@svc/contract';
import { putShadow as put } from '@svc/policy-lab';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const putShadow = handle(endpoint, ({ params, query, body, caller, ctx }) =>
  put(ctx.policyShadows, caller, { ...body, id: bundleIdOf(params, query) }),
);
