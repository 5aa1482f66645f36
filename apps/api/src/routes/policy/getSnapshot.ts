import { getBundleSnapshot as endpoint } from '@svc/contract';
import { getSnapshot as get } from '@svc/services';
import { handle } from '../../context';

export const getSnapshot = handle(endpoint, ({ params, ctx }) => get(ctx.policyDocuments, params.snapshot_id));
