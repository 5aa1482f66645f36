import Joi from 'joi';
import { endpoint } from '../endpoint';
import { after, anyObject, before, cursor, flag, jobId, pageLimit, text, waitForEnd } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';
import { listView } from '../jobs/jobs';
import { readChat, postChatMessage } from './run-chat';
import { explainRun } from '../explain/run-explain';
import { runView, type RunView } from './run-view';
import { readWorkflows as read, runId, stepId, time, workflowId, writeWorkflows as write } from './workflow-fields';

export interface StartQuery {
  org_id?: string;
  team_id?: string;
  dry_run: boolean;
  idempotency_key?: string;
  'idempotency-key'?: string;
}
const key = text('Idempotency key.').max(limits.idChars);
const runRef = shape<{ run_id: string }>({ required: { run_id: runId } });

/** The body is the input itself. See docs/reference/workflows.md#runs. */
export const startRun = endpoint({
  id: 'runs.start',
  method: 'post',
  path: '/api/v1/workflows/:id/runs',
  summary: 'Start a run',
  description:
    'The body is the input of the run, any JSON object; an empty body is {}. Idempotency key: header Idempotency-Key or X-Idempotency-Key, or query. A repeat with the same key and input returns the same run_id.',
  access: write,
  audit: { type: 'run.request', action: 'run.start', resource: ['workflow', 'id'] },
  params: { id: workflowId },
  query: shape<StartQuery>({
    required: {
      dry_run: flag(false).description(
        'Jobs of the run have the label dry_run, so that workers cause no side effects.',
      ),
    },
    optional: {
      org_id: text('Must be the caller’s tenant.'),
      team_id: text('Team.').max(limits.idChars),
      idempotency_key: key,
      'idempotency-key': key,
    },
  }),
  body: Joi.object<Record<string, unknown>>({
    memory_id: text('Memory that its jobs may use; a leading mem: is dropped.').max(limits.idChars),
  })
    .unknown()
    .description('Input of the run.'),
  bodyOptional: true,
  answer: {
    status: 200,
    body: runRef,
    headers: { 'X-Trace-Id': 'The run id.', 'Idempotency-Replayed': 'true when an earlier response is replayed.' },
  },
  errors: [
    'workflow_not_found',
    'agent_denied',
    'tenant_access_denied',
    'input_schema_validation_failed',
    'invalid_memory_id',
    'memory_policy_violation',
    'memory_policy_unreadable',
    'run_idempotency_conflict',
    'run_not_runnable',
    'tier_limit_exceeded',
    'overloaded',
  ],
  otherTenant: 'tenant_access_denied',
});

export const runsOfWorkflow = endpoint({
  id: 'runs.ofWorkflow',
  method: 'get',
  path: '/api/v1/workflows/:id/runs',
  summary: 'Runs of a workflow, newest first, at most 100',
  description: 'Each run has the fields of the list of all runs.',
  access: read,
  params: { id: workflowId },
  answer: { status: 200, body: Joi.array().items(runView) as Joi.ArraySchema<RunView[]> },
  errors: ['workflow_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export interface RunsQuery {
  limit: number;
  cursor?: number;
  status?: string;
  workflow_id?: string;
  org_id?: string;
  team_id?: string;
  updated_after?: number;
  updated_before?: number;
}

/** Cursors are Unix seconds. */
export const listRuns = endpoint({
  id: 'runs.list',
  method: 'get',
  path: '/api/v1/workflow-runs',
  summary: 'Runs, newest change first',
  description: 'Lists omit the inputs and outputs of steps and the items of fan-outs; read a single run to get them.',
  access: read,
  params: {},
  query: shape<RunsQuery>({
    required: { limit: pageLimit(50) },
    optional: {
      cursor,
      status: text('Exact status, any case.'),
      workflow_id: text('Exact workflow.'),
      org_id: text('Must be the caller’s tenant.'),
      team_id: text('Exact team.'),
      updated_after: after,
      updated_before: before,
    },
  }),
  answer: { status: 200, body: listView<RunView>(runView) },
  errors: ['tenant_access_denied'],
});

export const getRun = endpoint({
  id: 'runs.get',
  method: 'get',
  path: '/api/v1/workflow-runs/:id',
  summary: 'Read a run',
  access: read,
  params: { id: runId },
  query: shape<{ wait_ms: number }>({ required: { wait_ms: waitForEnd('run') } }),
  answer: { status: 200, body: runView },
  errors: ['run_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

/** Types: `timelineTypes` of @svc/workflow. */
export interface TimelineView {
  time: string;
  type: string;
  run_id?: string;
  workflow_id?: string;
  step_id?: string;
  job_id?: string;
  status?: string;
  result_ptr?: string;
  message?: string;
  data?: Record<string, unknown>;
}

export const runTimeline = endpoint({
  id: 'runs.timeline',
  method: 'get',
  path: '/api/v1/workflow-runs/:id/timeline',
  summary: 'Timeline of a run, oldest first; the newest 1000 events are kept',
  access: read,
  params: { id: runId },
  query: shape<{ limit: number }>({ required: { limit: pageLimit(200, 1_000) } }),
  answer: {
    status: 200,
    body: Joi.array().items(
      shape<TimelineView>({
        required: { time: time('Time of the event.'), type: text('Type of the event, such as step_completed.') },
        optional: {
          run_id: runId,
          workflow_id: workflowId,
          step_id: stepId,
          job_id: jobId,
          status: text('Status after the event.'),
          result_ptr: text('Pointer to a result.'),
          message: text('Description of the event.'),
          data: anyObject('Details; never inputs or outputs.'),
        },
      }),
    ) as Joi.ArraySchema<TimelineView[]>,
  },
  errors: ['run_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const removeRun = endpoint({
  id: 'runs.remove',
  method: 'delete',
  path: '/api/v1/workflow-runs/:id',
  summary: 'Delete a run with its timeline and timers; an active run is cancelled first',
  description:
    'Returns 409 RUN_BUSY if the run does not end within 5 s; it then stays, cancelled. Under a legal hold, 409 legal_hold_active.',
  access: write,
  audit: { type: 'run.request', action: 'run.remove', resource: ['run', 'id'], severity: 'MEDIUM' },
  params: { id: runId },
  answer: { status: 204 },
  errors: ['run_not_found', 'run_busy', 'legal_hold_active', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const rerunRun = endpoint({
  id: 'runs.rerun',
  method: 'post',
  path: '/api/v1/workflow-runs/:id/rerun',
  summary: 'Rerun a run from the start or from one step',
  description:
    'Uses the newest definition. To rerun from a step, the run must have ended and all dependencies of the step must have succeeded; their outputs are reused. A run that has not ended can be rerun from the start.',
  access: write,
  audit: { type: 'run.request', action: 'run.rerun', resource: ['run', 'id'] },
  params: { id: runId },
  body: shape<{ from_step: string; dry_run: boolean }>({
    required: { from_step: text('First step to run; empty = all.').max(64).default(''), dry_run: Joi.boolean().default(false) }, // prettier-ignore
  }),
  bodyOptional: true,
  answer: { status: 200, body: runRef, headers: { 'X-Trace-Id': 'The new run id.' } },
  errors: [
    'run_not_found',
    'workflow_not_found',
    'agent_denied',
    'run_not_rerunnable',
    'input_schema_validation_failed',
    'run_not_runnable',
    'tier_limit_exceeded',
    'tenant_access_denied',
    'overloaded',
  ],
  otherTenant: 'tenant_access_denied',
});

export const cancelRun = endpoint({
  id: 'runs.cancel',
  method: 'post',
  path: '/api/v1/workflows/:id/runs/:run_id/cancel',
  summary: 'Cancel a run; a no-op if it is already cancelled',
  description:
    'The cancel is stored before the response, and usually complete by then: steps are stopped, their jobs and child runs cancelled, and open approvals closed.',
  access: write,
  audit: { type: 'run.request', action: 'run.cancel', resource: ['run', 'id'] },
  params: { id: workflowId, run_id: runId },
  query: shape<{ compensate: boolean }>({
    required: { compensate: flag(false).description('Compensate finished steps, newest first.') },
  }),
  answer: { status: 204 },
  errors: ['run_not_found', 'run_not_cancellable', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export interface SignalView {
  run_id: string;
  signal: string;
  delivered: boolean;
}

/** Delivered to a waiting step of type signal, or stored until such a step waits. */
export const sendSignal = endpoint({
  id: 'runs.signal',
  method: 'post',
  path: '/api/v1/workflow-runs/:id/signals/:name',
  summary: 'Send a signal to a run',
  description:
    'The payload is limited to 65536 bytes as JSON. A run stores the newest 100 signals for which no step waits yet.',
  access: write,
  audit: { type: 'run.request', action: 'run.signal', resource: ['run', 'id'] },
  params: { id: runId, name: Joi.string().min(1).max(256).description('Name of the signal.') },
  body: shape<{ payload?: unknown; signal_id: string }>({
    required: {
      signal_id: text('Signal id; a repeat with the same id is a no-op. Generated when empty.')
        .max(limits.idChars)
        .default(''),
    },
    optional: { payload: Joi.any().description('Payload; becomes the output of the step.') },
  }),
  bodyOptional: true,
  answer: {
    status: 200,
    body: shape<SignalView>({
      required: {
        run_id: runId,
        signal: text('Name of the signal.'),
        delivered: Joi.boolean().description('Whether a step received it; false = stored until a step waits for it.'),
      },
    }),
  },
  errors: ['run_not_found', 'run_already_ended', 'request_too_large', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const workflowRunEndpoints = [
  startRun,
  runsOfWorkflow,
  listRuns,
  getRun,
  runTimeline,
  removeRun,
  rerunRun,
  cancelRun,
  readChat,
  postChatMessage,
  sendSignal,
  explainRun,
] as const;
