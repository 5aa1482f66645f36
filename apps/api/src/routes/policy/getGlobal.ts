import { getGlobalPolicy as endpoint } from '@svc/contract';
import { getGlobalPolicy } from '@svc/services';
import { handle } from '../../context';

export const getGlobal = handle(endpoint, ({ ctx }) => getGlobalPolicy(ctx.policyDocuments));
