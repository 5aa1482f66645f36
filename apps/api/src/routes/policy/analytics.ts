import { analysePolicy as endpoint } from '@svc/contract';
import { analysePolicy } from '@svc/policy-lab';
import { handle } from '../../context';

export const analytics = handle(endpoint, ({ body, caller, ctx }) => analysePolicy(ctx.policyEvaluate, caller, body));
