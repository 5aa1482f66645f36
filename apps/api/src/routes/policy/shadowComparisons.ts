import { shadowComparisons as endpoint } from '@svc/contract';
import { shadowComparisons as comparisons } from '@svc/policy-lab';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const shadowComparisons = handle(endpoint, ({ params, query, caller, ctx }) =>
  comparisons(ctx.policyShadows, caller, bundleIdOf(params, query), query),
);
