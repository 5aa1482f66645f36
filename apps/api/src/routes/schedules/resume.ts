import { resumeSchedule as endpoint } from '@svc/contract';
import { resumeSchedule } from '@svc/workflows';
import { handle } from '../../context';

export const resume = handle(endpoint, ({ params, caller, ctx }) =>
  resumeSchedule(ctx.schedules, caller, params.id, params.schedule_id),
);
