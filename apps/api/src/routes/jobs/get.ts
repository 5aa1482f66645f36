import { getJob as endpoint } from '@svc/contract';
import { getJob } from '@svc/services';
import { handle } from '../../context';

export const get = handle(endpoint, ({ params, caller, ctx }) => getJob(ctx.submit, caller.scope, params.id));
