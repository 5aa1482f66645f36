import { outputStats as endpoint } from '@svc/contract';
import { outputStats as stats } from '@svc/policy-admin';
import { handle } from '../../context';

export const outputStats = handle(endpoint, ({ query, caller, ctx }) => stats(ctx.policyDocuments, caller, query));
