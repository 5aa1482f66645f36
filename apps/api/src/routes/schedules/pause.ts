import { pauseSchedule as endpoint } from '@svc/contract';
import { pauseSchedule } from '@svc/workflows';
import { handle } from '../../context';

export const pause = handle(endpoint, ({ params, caller, ctx }) =>
  pauseSchedule(ctx.schedules, caller, params.id, params.schedule_id),
);
