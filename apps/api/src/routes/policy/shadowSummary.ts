import { shadowSummary as endpoint } from '@svc/contract';
import { shadowSummary as summary } from '@svc/policy-lab';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const shadowSummary = handle(endpoint, ({ params, query, caller, ctx }) =>
  summary(ctx.policyShadows, caller, bundleIdOf(params, query), query),
);
