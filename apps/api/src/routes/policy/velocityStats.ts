import { velocityStats as endpoint } from '@svc/contract';
import { velocityStats as stats } from '@svc/policy-admin';
import { handle } from '../../context';

export const velocityStats = handle(endpoint, ({ caller, ctx }) => stats(ctx.policyDocuments, caller));
