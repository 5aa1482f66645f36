import { removeShadow as endpoint } from '@svc/contract';
import { removeShadow as remove } from '@svc/policy-lab';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const removeShadow = handle(endpoint, ({ params, query, caller, ctx }) =>
  remove(ctx.policyShadows, caller, bundleIdOf(params, query)),
);
