import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, jobId, pageLimit, text } from '../fields';
import { shape } from '../shape';
import { readWorkflows as read, time, workflowId, writeWorkflows as write } from './workflow-fields';

export const overlapRules = ['skip', 'queue', 'allow', 'cancel_previous'] as const;
export const misfireRules = ['skip', 'run_once', 'run_all'] as const;

/** When a workflow starts by itself: by `cron` or by `interval_sec`, one of them. */
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
  created_at: string;
  updated_at: string;
  last_run_id?: string;
  last_time?: string;
  last_error?: string;
}

const scheduleTable = {
  required: {
    name: text('What it is for.').max(256).default(''),
    time_zone: Joi.string()
      .max(64)
      .default('UTC')
      .description(
        'IANA zone in which cron is read, such as Europe/Berlin. A time the clocks skip fires right after, one they show twice fires once; cron for every hour goes by the hour.',
      ),
    overlap: Joi.string<(typeof overlapRules)[number]>()
      .valid(...overlapRules)
      .default('skip')
      .description(
        'When the run before is still under way: leave this one out, wait for it (at most 100 starts do), start beside it, or cancel it.',
      ),
    misfire: Joi.string<(typeof misfireRules)[number]>()
      .valid(...misfireRules)
      .default('run_once')
      .description(
        'Times that passed while nobody could start them: none is made up for, one, or all of them, the newest 100 at most.',
      ),
    input: anyObject('Input of its runs.').default({}),
    paused: Joi.boolean().default(false).description('It starts nothing until it is resumed.'),
  },
  optional: {
    cron: Joi.string().max(256).description('Five fields, or six that begin with seconds; this or interval_sec.'),
    interval_sec: Joi.number().integer().min(1).max(31_622_400).description('Seconds between starts; this or cron.'),
    start_at: time('No start before it; an interval counts from it.'),
    end_at: time('No start after it.'),
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
      .items(time('A start to come.'))
      .description('Next starts, soonest first; none when paused.'),
    created_by: text('Who created it; its runs are started in that name.'),
    created_at: time('When.'),
    updated_at: time('Last change.'),
  },
  optional: {
    ...scheduleTable.optional,
    last_run_id: jobId.description('Run it started last.'),
    last_time: time('When that was.'),
    last_error: text('Why the last start failed.'),
  },
});
const scheduleParams = { id: workflowId, schedule_id: scheduleId };
const scheduleErrors = ['workflow_not_found', 'schedule_not_found', 'tenant_access_denied'] as const;
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
  summary: 'Let a workflow start by itself',
  access: write,
  params: { id: workflowId },
  body: scheduleBody,
  answer: { status: 201, body: scheduleView },
  errors: ['workflow_not_found', 'tenant_access_denied', 'invalid_schedule', 'input_schema_validation_failed'],
  otherTenant: 'tenant_access_denied',
});

export const getSchedule = endpoint({
  id: 'schedules.get',
  method: 'get',
  path: schedulePath,
  summary: 'One schedule, with its next starts',
  access: read,
  params: scheduleParams,
  query: shape<{ next: number }>({
    required: { next: pageLimit(5, 100).description('How many starts to come are told, at most 100. Default 5.') },
  }),
  answer: { status: 200, body: scheduleView },
  errors: scheduleErrors,
  otherTenant: 'tenant_access_denied',
});

export const putSchedule = endpoint({
  id: 'schedules.put',
  method: 'put',
  path: schedulePath,
  summary: 'Replace a schedule; starts that were due under the old one are dropped',
  access: write,
  params: scheduleParams,
  body: scheduleBody,
  answer: { status: 200, body: scheduleView },
  errors: [...scheduleErrors, 'invalid_schedule', 'input_schema_validation_failed'],
  otherTenant: 'tenant_access_denied',
});

export const pauseSchedule = endpoint({
  id: 'schedules.pause',
  method: 'post',
  path: `${schedulePath}/pause`,
  summary: 'Stop a schedule from starting runs; those under way go on',
  access: write,
  params: scheduleParams,
  answer: { status: 200, body: scheduleView },
  errors: scheduleErrors,
  otherTenant: 'tenant_access_denied',
});

export const resumeSchedule = endpoint({
  id: 'schedules.resume',
  method: 'post',
  path: `${schedulePath}/resume`,
  summary: 'Let a paused schedule start runs again; times that passed meanwhile are not made up for',
  access: write,
  params: scheduleParams,
  answer: { status: 200, body: scheduleView },
  errors: scheduleErrors,
  otherTenant: 'tenant_access_denied',
});

export const removeSchedule = endpoint({
  id: 'schedules.remove',
  method: 'delete',
  path: schedulePath,
  summary: 'Delete a schedule; runs it started go on',
  access: write,
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
