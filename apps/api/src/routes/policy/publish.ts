import { publishBundles as endpoint } from '@svc/contract';
import { publishBundles } from '@svc/policy-admin';
import { handle } from '../../context';

export const publish = handle(endpoint, ({ body, caller, ctx }) => publishBundles(ctx.policyDocuments, caller, body));
