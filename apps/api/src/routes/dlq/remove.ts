import { removeDeadLetter as endpoint } from '@svc/contract';
import { removeDeadLetter } from '@svc/services';
import { handle } from '../../context';

export const remove = handle(endpoint, ({ params, caller, ctx }) =>
  removeDeadLetter(ctx.submit, caller, params.job_id),
);
