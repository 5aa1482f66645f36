import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, jobId, pageLimit, text } from '../fields';
import { shape } from '../shape';
import { readWorkflows as read, time, workflowId, writeWorkflows as write } from './workflow-fields';

export const overlapRules = ['skip', 'queue', 'allow', 'cancel_previous'] as const;
export const misfireRules = ['skip', 'run_once', 'run_all'] as const;

/** A schedule starts a workflow by exactly one of `cron` and `interval_sec`. */
export interface ScheduleFields {
  name: string;
  cron?: string;
  interval_sec?: number;
  time_zone: string;
  overlap: (typeof overlapRules)[number];
  misfire: (typeof misfireRules)[number];
  input: Record<string, unknown>;
  paused: boolean;
  start_at?: string;
  end_at?: string;
}
export interface ScheduleView extends ScheduleFields {
  id: string;
  workflow_id: string;
  next_times: string[];
  created_by: string;
  agent_id?: string;
  created_at: string;
  updated_at: string;
  last_run_id?: string;
  last_time?: string;
  last_error?: string;
}

const scheduleTable = {
  required: {
    name: text('Name of the schedule.').max(256).default(''),
    time_zone: Joi.string()
      .max(64)
      .default('UTC')
      .description(
        'IANA time zone of cron, such as Europe/Berlin. A time skipped by a clock change fires right after it, a repeated time fires once; an hourly cron fires every hour.',
      ),
    overlap: Joi.string<(typeof overlapRules)[number]>()
      .valid(...overlapRules)
      .default('skip')
      .description(
        'Action when the previous run is still active: skip this start, queue it (at most 100), allow both runs, or cancel the previous run.',
      ),
    misfire: Joi.string<(typeof misfireRules)[number]>()
      .valid(...misfireRules)
      .default('run_once')
      .description(
        'Starts missed while the engine was unavailable: skip them, run one, or run all (at most the newest 100).',
      ),
    input: anyObject('Input of its runs.').default({}),
    paused: Joi.boolean().default(false).description('Whether the schedule is paused.'),
  },
  optional: {
    cron: Joi.string()
      .max(256)
      .description('Five fields, or six with leading seconds. Mutually exclusive with interval_sec.'),
    interval_sec: Joi.number()
      .integer()
      .min(1)
      .max(31_622_400)
      .description('Seconds between starts. Mutually exclusive with cron.'),
    start_at: time('Earliest start; intervals count from it.'),
    end_at: time('Latest start.'),
  },
};

const scheduleBody = shape<ScheduleFields>(scheduleTable)
  .xor('cron', 'interval_sec')
  .messages({ 'object.missing': 'cron or interval_sec is needed', 'object.xor': 'cron and interval_sec: give one' });
const scheduleId = Joi.string().min(1).max(64).description('Schedule id.');
const scheduleView = shape<ScheduleView>({
  required: {
    ...scheduleTable.required,
    id: scheduleId,
    workflow_id: workflowId,
    next_times: Joi.array()
      .items(time('A future start.'))
      .description('Next starts, soonest first; empty when paused.'),
    created_by: text('Identity that created it; its runs are started with this identity.'),
    created_at: time('Creation time.'),
    updated_at: time('Time of the last change.'),
  },
  optional: {
    ...scheduleTable.optional,
    agent_id: text('Agent that created it; its runs are runs of this agent.'),
    last_run_id: jobId.description('Last run that it started.'),
    last_time: time('Time of the last start.'),
    last_error: text('Why the last start failed.'),
  },
});
const scheduleParams = { id: workflowId, schedule_id: scheduleId };
const scheduleErrors = ['workflow_not_found', 'schedule_not_found', 'tenant_access_denied'] as const;
/** A schedule of an agent, or written by one, is checked like a start of a run. */
const agentErrors = ['access_denied', 'agent_denied'] as const;
const schedulePath = '/api/v1/workflows/:id/schedules/:schedule_id';

export const listSchedules = endpoint({
  id: 'schedules.list',
  method: 'get',
  path: '/api/v1/workflows/:id/schedules',
  summary: 'Schedules of a workflow, oldest first',
  access: read,
  params: { id: workflowId },
  answer: { status: 200, body: Joi.array().items(scheduleView) as Joi.ArraySchema<ScheduleView[]> },
  errors: ['workflow_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const addSchedule = endpoint({
  id: 'schedules.add',
  method: 'post',
  path: '/api/v1/workflows/:id/schedules',
  summary: 'Create a schedule for a workflow',
  access: write,
  audit: { type: 'governance.workflow_change', action: 'schedule.add', resource: ['schedule', 'id'] },
  params: { id: workflowId },
  body: scheduleBody,
  answer: { status: 201, body: scheduleView },
  errors: [
    'workflow_not_found',
    'tenant_access_denied',
    'invalid_schedule',
    'input_schema_validation_failed',
    ...agentErrors,
  ],
  otherTenant: 'tenant_access_denied',
});

export const getSchedule = endpoint({
  id: 'schedules.get',
  method: 'get',
  path: schedulePath,
  summary: 'Read a schedule with its next starts',
  access: read,
  params: scheduleParams,
  query: shape<{ next: number }>({
    required: { next: pageLimit(5, 100).description('Number of next starts to return, at most 100. Default 5.') },
  }),
  answer: { status: 200, body: scheduleView },
  errors: scheduleErrors,
  otherTenant: 'tenant_access_denied',
});

export const putSchedule = endpoint({
  id: 'schedules.put',
  method: 'put',
  path: schedulePath,
  summary: 'Replace a schedule; pending starts of the old schedule are dropped',
  access: write,
  audit: { type: 'governance.workflow_change', action: 'schedule.put', resource: ['schedule', 'schedule_id'] },
  params: scheduleParams,
  body: scheduleBody,
  answer: { status: 200, body: scheduleView },
  errors: [...scheduleErrors, 'invalid_schedule', 'input_schema_validation_failed', ...agentErrors],
  otherTenant: 'tenant_access_denied',
});

export const pauseSchedule = endpoint({
  id: 'schedules.pause',
  method: 'post',
  path: `${schedulePath}/pause`,
  summary: 'Pause a schedule; active runs continue',
  access: write,
  audit: { type: 'governance.workflow_change', action: 'schedule.pause', resource: ['schedule', 'schedule_id'] },
  params: scheduleParams,
  answer: { status: 200, body: scheduleView },
  errors: scheduleErrors,
  otherTenant: 'tenant_access_denied',
});

export const resumeSchedule = endpoint({
  id: 'schedules.resume',
  method: 'post',
  path: `${schedulePath}/resume`,
  summary: 'Resume a schedule; starts missed during the pause are skipped',
  access: write,
  audit: { type: 'governance.workflow_change', action: 'schedule.resume', resource: ['schedule', 'schedule_id'] },
  params: scheduleParams,
  answer: { status: 200, body: scheduleView },
  errors: [...scheduleErrors, ...agentErrors],
  otherTenant: 'tenant_access_denied',
});

export const removeSchedule = endpoint({
  id: 'schedules.remove',
  method: 'delete',
  path: schedulePath,
  summary: 'Delete a schedule; runs that it started continue',
  access: write,
  audit: { type: 'governance.workflow_change', action: 'schedule.remove', resource: ['schedule', 'schedule_id'] },
  params: scheduleParams,
  answer: { status: 204 },
  errors: scheduleErrors,
  otherTenant: 'tenant_access_denied',
});

export const scheduleEndpoints = [
  listSchedules,
  addSchedule,
  getSchedule,
  putSchedule,
  pauseSchedule,
  resumeSchedule,
  removeSchedule,
] as const;
