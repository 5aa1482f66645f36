import { shadowTimeseries as endpoint } from '@svc/contract';
import { shadowTimeseries as timeseries } from '@svc/policy-lab';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const shadowTimeseries = handle(endpoint, ({ params, query, caller, ctx }) =>
  timeseries(ctx.policyShadows, caller, bundleIdOf(params, query), query),
);
