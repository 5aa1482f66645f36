import { listSchedules as endpoint } from '@svc/contract';
import { listSchedules } from '@svc/workflows';
import { handle } from '../../context';

export const list = handle(endpoint, ({ params, caller, ctx }) => listSchedules(ctx.schedules, caller, params.id));
