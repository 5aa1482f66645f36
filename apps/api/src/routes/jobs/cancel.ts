import { cancelJob as endpoint } from '@svc/contract';
import { cancelJob } from '@svc/jobs';
import { handle } from '../../context';

export const cancel = handle(endpoint, async ({ params, caller, ctx }) => {
  const { state, changed } = await cancelJob(ctx.cancel, caller.scope, params.id);
  return { id: params.id, state, ...(!changed && { reason: 'job already terminal' }) };
});
