import { listRules as endpoint } from '@svc/contract';
import { listRules as list } from '@svc/policy-admin';
import { handle } from '../../context';

export const listRules = handle(endpoint, ({ query, caller, ctx }) => list(ctx.policyDocuments, caller, query));
