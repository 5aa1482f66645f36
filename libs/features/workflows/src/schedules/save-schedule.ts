import { AppError, type Caller, type ScheduleFields, type ScheduleView } from '@svc/contract';
import type { ScheduleWrite, WorkflowRecord } from '@svc/store';
import type { Random } from '@svc/platform';
import { checkRunInput } from '../runs/create-run';
import { requireFound } from '../definitions/read-workflows';
import { parseDefinition } from '../definitions/workflow-view';
import { writerName } from '@svc/identity';
import { getSchedule, type ReadSchedulesDeps, findSchedule } from './read-schedules';
import { parseDocument, type ScheduleDocument, getTimes } from './schedule-view';

export interface SaveScheduleDeps extends ReadSchedulesDeps {
  random: Pick<Random, 'uuid'>;
}

/**
 * Adds a schedule to a workflow. See docs/reference/workflows.md#schedules.
 *
 * @param agentId agent that the caller acts as; the schedule belongs to it, and so do its runs
 * @throws invalid_schedule with the reason, input_schema_validation_failed, workflow_not_found, tenant_access_denied,
 *   access_denied for an agent of another tenant than the workflow
 */
export async function addSchedule(
  deps: SaveScheduleDeps,
  caller: Caller,
  workflowId: string,
  fields: ScheduleFields,
  agentId?: string,
): Promise<ScheduleView> {
  const workflow = requireFound(await deps.store.workflows.get(caller.scope, workflowId), 'workflow_not_found');
  if (agentId !== undefined && workflow.tenant !== caller.tenant) throw new AppError('access_denied');
  const nowMs = await deps.store.schedules.nowMs();
  const document = {
    fields,
    from_ms: nowMs,
    author: caller.submitterId,
    ...(agentId !== undefined && { agent_id: agentId }),
  };
  check(workflow, document, nowMs);
  const id = deps.random.uuid();
  const by = writerName(caller);
  await write(deps, { id, tenant: workflow.tenant, workflowId, revision: 0, ...stored(document, nowMs), by });
  return getSchedule(deps, caller, workflowId, id);
}

/**
 * Replaces a schedule; pending starts of the old one are dropped. A schedule of an agent remains one when a person replaces it.
 *
 * @param agentId agent that the caller acts as, which may replace its own schedules only
 * @throws as addSchedule, and schedule_not_found
 */
export async function putSchedule(
  deps: SaveScheduleDeps,
  caller: Caller,
  workflowId: string,
  id: string,
  fields: ScheduleFields,
  agentId?: string,
): Promise<ScheduleView> {
  const workflow = requireFound(await deps.store.workflows.get(caller.scope, workflowId), 'workflow_not_found');
  return change(deps, caller, workflowId, id, (before, nowMs) => {
    requireOwn(before, agentId);
    const document = { ...before, fields, editor: caller.submitterId };
    check(workflow, document, nowMs);
    return document;
  });
}

/** A waiting start is dropped. @throws workflow_not_found, schedule_not_found, tenant_access_denied */
export const pauseSchedule = (deps: SaveScheduleDeps, caller: Caller, workflowId: string, id: string) =>
  changePausable(deps, caller, workflowId, id, (before) => setPaused(before, true));

/**
 * Missed times are not made up.
 *
 * @param agentId agent that the caller acts as, which may resume its own schedules only
 * @throws workflow_not_found, schedule_not_found, tenant_access_denied, access_denied
 */
export const resumeSchedule = (
  deps: SaveScheduleDeps,
  caller: Caller,
  workflowId: string,
  id: string,
  agentId?: string,
) =>
  changePausable(deps, caller, workflowId, id, (before) => {
    requireOwn(before, agentId);
    return setPaused(before, false);
  });

async function changePausable(
  deps: SaveScheduleDeps,
  caller: Caller,
  workflowId: string,
  id: string,
  next: (before: ScheduleDocument) => ScheduleDocument | undefined,
): Promise<ScheduleView> {
  requireFound(await deps.store.workflows.get(caller.scope, workflowId), 'workflow_not_found');
  return change(deps, caller, workflowId, id, next);
}

/** Undefined = unchanged: pending starts stay. */
const setPaused = (before: ScheduleDocument, paused: boolean): ScheduleDocument | undefined =>
  before.fields.paused === paused ? undefined : { ...before, fields: { ...before.fields, paused } };

/** An agent must not leave its scope by a schedule whose runs have another one, or none. @throws access_denied */
function requireOwn({ agent_id: owner }: ScheduleDocument, agentId: string | undefined): void {
  if (agentId !== undefined && agentId !== owner) throw new AppError('access_denied');
}

const maxTries = 5;

async function change(
  deps: SaveScheduleDeps,
  caller: Caller,
  workflowId: string,
  id: string,
  next: (before: ScheduleDocument, nowMs: number) => ScheduleDocument | undefined,
): Promise<ScheduleView> {
  for (let tries = 0; tries < maxTries; tries++) {
    const { record, nowMs } = await findSchedule(deps, workflowId, id);
    const document = next(parseDocument(record), nowMs);
    const { tenant, revision } = record;
    const by = record.created_by;
    if (!document || (await write(deps, { id, tenant, workflowId, revision, ...stored(document, nowMs), by }))) {
      return getSchedule(deps, caller, workflowId, id);
    }
  }
  throw new AppError('overloaded');
}

/** @returns false on a concurrent change */
async function write({ store }: SaveScheduleDeps, schedule: ScheduleWrite): Promise<boolean> {
  const outcome = await store.schedules.write(schedule);
  switch (outcome.kind) {
    case 'written':
      return true;
    case 'changed':
      return false;
    case 'missing':
      throw new AppError('schedule_not_found');
    case 'no_workflow':
      throw new AppError('workflow_not_found');
    case 'full':
      throw invalid(`the workflow has ${outcome.there} schedules, which is the most there may be: remove one first`);
  }
}

function stored(document: ScheduleDocument, nowMs: number): Pick<ScheduleWrite, 'document' | 'dueMs'> {
  const read = getTimes(document);
  const dueMs = document.fields.paused || read.kind === 'bad' ? undefined : read.times.nextAfter(nowMs);
  return { document: { ...document }, ...(dueMs !== undefined && { dueMs }) };
}

/** @throws invalid_schedule, input_schema_validation_failed */
function check(workflow: WorkflowRecord, document: ScheduleDocument, nowMs: number): void {
  const read = getTimes(document);
  if (read.kind === 'bad') throw invalid(read.message);
  if (read.times.nextAfter(nowMs) === undefined) {
    throw invalid('no time is to come before end_at: put it later, or leave it out');
  }
  checkRunInput(parseDefinition(workflow), document.fields.input);
}

const invalid = (error: string) => new AppError('invalid_schedule', { error });
