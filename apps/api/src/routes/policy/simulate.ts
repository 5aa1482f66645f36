import { simulatePolicy as endpoint } from '@svc/contract';
import { simulatePolicy } from '@svc/services';
import { handle } from '../../context';

export const simulate = handle(endpoint, ({ body, caller, ctx }) => simulatePolicy(ctx.policyEvaluate, caller, body));
