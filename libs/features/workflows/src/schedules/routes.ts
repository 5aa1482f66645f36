import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { getSchedule, listSchedules } from './read-schedules';
import { removeSchedule } from './remove-schedule';
import { addSchedule, pauseSchedule, putSchedule, resumeSchedule, type SaveScheduleDeps } from './save-schedule';

/** Dependencies of these handlers. */
export interface ScheduleContext {
  schedules: SaveScheduleDeps;
}

const handle = handlersFor<ScheduleContext>();

/** Schedules. */
export const scheduleRoutes = [
  handle(contract.listSchedules, ({ params, caller, ctx }) => listSchedules(ctx.schedules, caller, params.id)),
  handle(contract.addSchedule, ({ params, body, caller, ctx }) => addSchedule(ctx.schedules, caller, params.id, body)),
  handle(contract.getSchedule, ({ params, query, caller, ctx }) =>
    getSchedule(ctx.schedules, caller, params.id, params.schedule_id, query.next),
  ),
  handle(contract.putSchedule, ({ params, body, caller, ctx }) =>
    putSchedule(ctx.schedules, caller, params.id, params.schedule_id, body),
  ),
  handle(contract.pauseSchedule, ({ params, caller, ctx }) =>
    pauseSchedule(ctx.schedules, caller, params.id, params.schedule_id),
  ),
  handle(contract.resumeSchedule, ({ params, caller, ctx }) =>
    resumeSchedule(ctx.schedules, caller, params.id, params.schedule_id),
  ),
  handle(contract.removeSchedule, ({ params, caller, ctx }) =>
    removeSchedule(ctx.schedules, caller, params.id, params.schedule_id),
  ),
];
