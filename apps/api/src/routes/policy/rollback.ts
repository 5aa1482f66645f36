import { rollBackBundles as endpoint } from '@svc/contract';
import { rollBackBundles } from '@svc/policy-admin';
import { handle } from '../../context';

export const rollback = handle(endpoint, ({ body, caller, ctx }) => rollBackBundles(ctx.policyDocuments, caller, body));
