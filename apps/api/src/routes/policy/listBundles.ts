import { listBundles as endpoint } from '@svc/contract';
import { listBundles as list } from '@svc/policy-admin';
import { handle } from '../../context';

export const listBundles = handle(endpoint, ({ caller, ctx }) => list(ctx.policyDocuments, caller));
