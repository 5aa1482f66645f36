import { putSchedule as endpoint } from '@svc/contract';
import { putSchedule } from '@svc/workflows';
import { handle } from '../../context';

export const put = handle(endpoint, ({ params, body, caller, ctx }) =>
  putSchedule(ctx.schedules, caller, params.id, params.schedule_id, body),
);
