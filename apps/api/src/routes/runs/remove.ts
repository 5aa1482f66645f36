import { removeRun as endpoint } from '@svc/contract';
import { removeRun } from '@svc/workflows';
import { handle } from '../../context';

export const remove = handle(endpoint, ({ params, caller, ctx }) => removeRun(ctx.runs, caller, params.id));
