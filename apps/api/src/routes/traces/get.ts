import { getTrace as endpoint } from '@svc/contract';
import { getTrace } from '@svc/jobs';
import { handle } from '../../context';

export const get = handle(endpoint, ({ params, caller, ctx }) => getTrace(ctx.submit, caller.tenant, params.id));
