import { AppError, type Caller, type ScheduleView } from '@svc/contract';
import type { ScheduleNow, Store } from '@svc/store';
import { requireFound } from '../definitions/read-workflows';
import { toScheduleView } from './schedule-view';

export interface ReadSchedulesDeps {
  store: Pick<Store, 'schedules' | 'workflows'>;
}

const defaultNextTimes = 5;

/** Oldest first. @throws workflow_not_found, tenant_access_denied */
export async function listSchedules({ store }: ReadSchedulesDeps, caller: Caller, workflowId: string) {
  requireFound(await store.workflows.get(caller.scope, workflowId), 'workflow_not_found');
  const schedules = await store.schedules.list(workflowId);
  return schedules.map((schedule): ScheduleView => toScheduleView(schedule, defaultNextTimes));
}

/** @throws workflow_not_found, schedule_not_found, tenant_access_denied */
export async function getSchedule(
  deps: ReadSchedulesDeps,
  caller: Caller,
  workflowId: string,
  id: string,
  next = defaultNextTimes,
): Promise<ScheduleView> {
  requireFound(await deps.store.workflows.get(caller.scope, workflowId), 'workflow_not_found');
  return toScheduleView(await findSchedule(deps, workflowId, id), next);
}

/** A schedule of a workflow that the caller may see. @throws schedule_not_found */
export async function findSchedule({ store }: ReadSchedulesDeps, workflowId: string, id: string): Promise<ScheduleNow> {
  const schedule = await store.schedules.read(id);
  if (schedule?.record.workflow_id !== workflowId) throw new AppError('schedule_not_found');
  return schedule;
}
