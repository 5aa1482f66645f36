import { removeSchedule as endpoint } from '@svc/contract';
import { removeSchedule } from '@svc/workflows';
import { handle } from '../../context';

export const remove = handle(endpoint, ({ params, caller, ctx }) =>
  removeSchedule(ctx.schedules, caller, params.id, params.schedule_id),
);
