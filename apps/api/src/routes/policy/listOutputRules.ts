import { listOutputRules as endpoint } from '@svc/contract';
import { listOutputRules as list } from '@svc/policy-admin';
import { handle } from '../../context';

export const listOutputRules = handle(endpoint, ({ query, caller, ctx }) => list(ctx.policyDocuments, caller, query));
