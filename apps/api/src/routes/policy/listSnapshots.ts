import { listBundleSnapshots as endpoint } from '@svc/contract';
import { listSnapshots as list } from '@svc/policy-admin';
import { handle } from '../../context';

export const listSnapshots = handle(endpoint, ({ ctx }) => list(ctx.policyDocuments));
