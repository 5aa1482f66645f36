import { getBundleSnapshot as endpoint } from '@svc/contract';
import { getSnapshot as get } from '@svc/policy-admin';
import { handle } from '../../context';

export const getSnapshot = handle(endpoint, ({ params, caller, ctx }) =>
  get(ctx.policyDocuments, caller, params.snapshot_id),
);
