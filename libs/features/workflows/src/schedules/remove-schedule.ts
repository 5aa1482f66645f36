import { AppError, type Caller } from '@svc/contract';
import { requireFound } from '../definitions/read-workflows';
import type { ReadSchedulesDeps } from './read-schedules';

/** Runs that it started continue. @throws workflow_not_found, schedule_not_found, tenant_access_denied */
export async function removeSchedule(
  { store }: ReadSchedulesDeps,
  caller: Caller,
  workflowId: string,
  id: string,
): Promise<void> {
  requireFound(await store.workflows.get(caller.scope, workflowId), 'workflow_not_found');
  if (!(await store.schedules.remove(workflowId, id))) throw new AppError('schedule_not_found');
}
