import { addSchedule as endpoint } from '@svc/contract';
import { addSchedule } from '@svc/workflows';
import { handle } from '../../context';

export const add = handle(endpoint, ({ params, body, caller, ctx }) =>
  addSchedule(ctx.schedules, caller, params.id, body),
);
