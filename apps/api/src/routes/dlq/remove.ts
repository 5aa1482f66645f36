import { removeDeadLetter as endpoint } from '@svc/contract';
import { removeDeadLetter } from '@svc/jobs';
import { handle } from '../../context';

export const remove = handle(endpoint, ({ params, caller, ctx }) =>
  removeDeadLetter(ctx.submit, caller, params.job_id),
);
