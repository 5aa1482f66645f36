import { policySnapshots as endpoint } from '@svc/contract';
import { policySnapshots } from '@svc/policy-lab';
import { handle } from '../../context';

export const snapshots = handle(endpoint, async ({ ctx }) => ({
  snapshots: await policySnapshots(ctx.policyEvaluate),
}));
