import { getGlobalPolicy as endpoint } from '@svc/contract';
import { getGlobalPolicy } from '@svc/policy-admin';
import { handle } from '../../context';

export const getGlobal = handle(endpoint, ({ ctx }) => getGlobalPolicy(ctx.policyDocuments));
