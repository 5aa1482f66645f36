import type { ActingDeps } from '@svc/agents';
import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { findRunAgent } from '../runs/run-agent';
import { getSchedule, listSchedules } from './read-schedules';
import { removeSchedule } from './remove-schedule';
import { addSchedule, pauseSchedule, putSchedule, resumeSchedule, type SaveScheduleDeps } from './save-schedule';

/** Dependencies of these handlers. */
export interface ScheduleContext {
  schedules: SaveScheduleDeps & { agents: ActingDeps };
}

const handle = handlersFor<ScheduleContext>();

/** The agent as which a caller writes a schedule. @throws as findRunAgent */
const findAgent = (
  { schedules }: ScheduleContext,
  caller: contract.Caller,
  header: (name: string) => string | undefined,
) => findRunAgent(schedules.agents, caller, header('X-Agent-Id'));

/** Schedules. */
export const scheduleRoutes = [
  handle(contract.listSchedules, ({ params, caller, ctx }) => listSchedules(ctx.schedules, caller, params.id)),
  handle(contract.addSchedule, async ({ params, body, header, caller, ctx }) =>
    addSchedule(ctx.schedules, caller, params.id, body, await findAgent(ctx, caller, header)),
  ),
  handle(contract.getSchedule, ({ params, query, caller, ctx }) =>
    getSchedule(ctx.schedules, caller, params.id, params.schedule_id, query.next),
  ),
  handle(contract.putSchedule, async ({ params, body, header, caller, ctx }) => {
    const agentId = await findAgent(ctx, caller, header);
    return putSchedule(ctx.schedules, caller, params.id, params.schedule_id, body, agentId);
  }),
  handle(contract.pauseSchedule, ({ params, caller, ctx }) =>
    pauseSchedule(ctx.schedules, caller, params.id, params.schedule_id),
  ),
  handle(contract.resumeSchedule, async ({ params, header, caller, ctx }) =>
    resumeSchedule(ctx.schedules, caller, params.id, params.schedule_id, await findAgent(ctx, caller, header)),
  ),
  handle(contract.removeSchedule, ({ params, caller, ctx }) =>
    removeSchedule(ctx.schedules, caller, params.id, params.schedule_id),
  ),
];
