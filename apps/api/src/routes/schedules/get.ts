import { getSchedule as endpoint } from '@svc/contract';
import { getSchedule } from '@svc/workflows';
import { handle } from '../../context';

export const get = handle(endpoint, ({ params, query, caller, ctx }) =>
  getSchedule(ctx.schedules, caller, params.id, params.schedule_id, query.next),
);
