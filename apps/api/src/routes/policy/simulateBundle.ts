import { simulateBundle as endpoint } from '@svc/contract';
import { simulateBundle as simulate } from '@svc/policy-lab';
import { handle } from '../../context';
import { bundleIdOf } from './bundle-id';

export const simulateBundle = handle(endpoint, ({ params, query, body, caller, requestId, ctx }) =>
  simulate(ctx.policyEvaluate, { caller, requestId }, bundleIdOf(params, query), body),
);
