import { replayPolicy as endpoint } from '@svc/contract';
import { replayPolicy } from '@svc/policy-lab';
import { handle } from '../../context';

export const replay = handle(endpoint, ({ body, caller, ctx }) => replayPolicy(ctx.policyEvaluate, caller, body));
