import { takeBundleSnapshot as endpoint } from '@svc/contract';
import { takeSnapshot as take } from '@svc/policy-admin';
import { handle } from '../../context';

export const takeSnapshot = handle(endpoint, ({ body, caller, ctx }) => take(ctx.policyDocuments, caller, body.note));
