import { getShadow as endpoint } from '@svc/contract';
import { getShadow as get } from '@svc/policy-lab';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const getShadow = handle(endpoint, ({ params, query, caller, ctx }) =>
  get(ctx.policyShadows, caller, bundleIdOf(params, query)),
);
