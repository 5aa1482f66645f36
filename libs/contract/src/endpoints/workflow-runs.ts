import Joi from 'joi';
import { endpoint } from '../endpoint';
import { after, anyObject, before, count, cursor, flag, jobId, pageLimit, stringMap, strings, text } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';
import { listView } from './jobs';
import { workflowId } from './workflows';

const read = { permission: 'workflows.read', roles: 'any' } as const;
const write = { permission: 'workflows.write', roles: ['admin'] } as const;
const time = (description: string) => Joi.string().isoDate().description(description);
const runId = jobId.description('Run id.');
const stepId = text('Step id; with the index of the item in brackets for a part of a fan-out.');

/** Core contract 5.1. */
export const runStatuses = [
  'pending', 'running', 'waiting', 'succeeded', 'failed', 'denied', 'cancelled', 'timed_out',
] as const; // prettier-ignore
export type RunStatusName = (typeof runStatuses)[number];
export const stepStatuses = [...runStatuses, 'skipped'] as const;
export type StepStatusName = (typeof stepStatuses)[number];

export interface RunErrorView {
  message: string;
  code?: string;
}
const runError = shape<RunErrorView>({
  required: { message: text('What went wrong.') },
  optional: { code: text('In a word.') },
});

export interface StepRunView {
  step_id: string;
  status: StepStatusName;
  started_at?: string;
  completed_at?: string;
  next_attempt_at?: string;
  attempts?: number;
  input?: unknown;
  output?: unknown;
  result_ptr?: string;
  error?: RunErrorView;
  job_id?: string;
  child_run_id?: string;
  item?: unknown;
  children?: Record<string, unknown>;
  resolved_items?: unknown[];
  skip_reason?: string;
  audit_hash?: string;
}
const stepRunView = shape<StepRunView>({
  required: { step_id: stepId, status: Joi.string<StepStatusName>().valid(...stepStatuses) },
  optional: {
    started_at: time('When it began.'),
    completed_at: time('When it ended.'),
    next_attempt_at: time('When it is tried again.'),
    attempts: count('How often it was given to a worker.'),
    input: Joi.any().description('What it was given.'),
    output: Joi.any().description('What it returned.'),
    result_ptr: text('Where its result is kept.'),
    error: runError,
    job_id: jobId.description('Job of the newest attempt.'),
    child_run_id: runId.description('Run that a subworkflow step started.'),
    item: Joi.any().description('Item of a fan-out.'),
    children: anyObject('Parts of a fan-out by their step id, each a step run.'),
    resolved_items: Joi.array().items(Joi.any()).description('Items of a fan-out.'),
    skip_reason: text('Why it did not run.'),
    audit_hash: text('Hash of its entry in the audit chain.'),
  },
});

/** Spec: "Workflow, run, chat". */
export interface TimerView {
  workflow_id: string;
  run_id: string;
  fires_at: string;
  remaining_ms: number;
  step_id?: string;
}
const timerView = shape<TimerView>({
  required: {
    workflow_id: workflowId,
    run_id: runId,
    fires_at: time('When it fires.'),
    remaining_ms: count('How long until then, in ms.'),
  },
  optional: { step_id: stepId },
});

export interface RunView {
  id: string;
  workflow_id: string;
  org_id: string;
  team_id: string;
  input: Record<string, unknown>;
  context: Record<string, unknown>;
  status: RunStatusName;
  started_at: string | null;
  completed_at: string | null;
  output: unknown;
  error: RunErrorView | null;
  steps: Record<string, StepRunView>;
  total_cost: number;
  triggered_by: string;
  created_at: string;
  updated_at: string;
  workflow_revision?: number;
  labels?: Record<string, string>;
  metadata?: Record<string, string>;
  idempotency_key?: string;
  rerun_of?: string;
  rerun_step?: string;
  dry_run?: boolean;
  current_step?: string;
  timers?: TimerView[];
}

const runView = shape<RunView>({
  required: {
    id: runId,
    workflow_id: workflowId,
    org_id: text('Tenant.'),
    team_id: text('Team.'),
    input: anyObject('What it was started with.'),
    context: anyObject('ctx of its expressions; outputs of its steps are under steps.'),
    status: Joi.string<RunStatusName>().valid(...runStatuses),
    started_at: time('When it began.').allow(null),
    completed_at: time('When it ended.').allow(null),
    output: Joi.any().description('What it returned; null until then.'),
    error: runError.allow(null),
    steps: Joi.object().pattern(/.*/, stepRunView).description('Steps that were looked at, by their id.'),
    total_cost: Joi.number().min(0).description('In USD, as far as known.'),
    triggered_by: text('Who started it.'),
    created_at: time('When it was accepted.'),
    updated_at: time('Last change.'),
  },
  optional: {
    workflow_revision: count('Revision of the definition it runs.'),
    labels: stringMap('Labels.'),
    metadata: stringMap('Metadata.'),
    idempotency_key: text('Key it was started with.'),
    rerun_of: runId.description('Run it repeats.'),
    rerun_step: text('Step from which it repeats it.'),
    dry_run: Joi.boolean().description('Workers were told to do nothing.'),
    current_step: text('First step, in the order of their ids, that is running or waiting.'),
    timers: Joi.array().items(timerView).description('Of one run only; absent when none is set.'),
  },
});

export interface StartQuery {
  org_id?: string;
  team_id?: string;
  dry_run: boolean;
  idempotency_key?: string;
  'idempotency-key'?: string;
}
const key = text('Idempotency key.').max(limits.idChars);
const runRef = shape<{ run_id: string }>({ required: { run_id: runId } });

/** Core contract 5.3. The body is the input itself. */
export const startRun = endpoint({
  id: 'runs.start',
  method: 'post',
  path: '/api/v1/workflows/:id/runs',
  summary: 'Start a run',
  description:
    'Any JSON object is the input; none is {}. Idempotency key: header Idempotency-Key or X-Idempotency-Key, or query. A repeat with the same key and input answers with the same run_id.',
  access: write,
  params: { id: workflowId },
  query: shape<StartQuery>({
    required: { dry_run: flag(false).description('Workers hold back: the jobs carry the label dry_run.') },
    optional: {
      org_id: text('Must be the caller’s tenant.'),
      team_id: text('Team.').max(limits.idChars),
      idempotency_key: key,
      'idempotency-key': key,
    },
  }),
  body: Joi.object<Record<string, unknown>>({
    memory_id: text('Memory its jobs may use; a leading mem: is dropped.').max(limits.idChars),
  })
    .unknown()
    .description('Input of the run.'),
  bodyOptional: true,
  answer: {
    status: 200,
    body: runRef,
    headers: { 'X-Trace-Id': 'The run id.', 'Idempotency-Replayed': 'true when this is an earlier answer.' },
  },
  errors: [
    'workflow_not_found',
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

/** Core contract 5.2. Cursors are unix seconds. */
export const listRuns = endpoint({
  id: 'runs.list',
  method: 'get',
  path: '/api/v1/workflow-runs',
  summary: 'Runs, newest change first',
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
  summary: 'Everything about a run',
  access: read,
  params: { id: runId },
  answer: { status: 200, body: runView },
  errors: ['run_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

/** Core contract 5.5; types: engine contract B10. */
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
  summary: 'What happened in a run, oldest first; the newest 1000 events are kept',
  access: read,
  params: { id: runId },
  query: shape<{ limit: number }>({ required: { limit: pageLimit(200) } }),
  answer: {
    status: 200,
    body: Joi.array().items(
      shape<TimelineView>({
        required: { time: time('When.'), type: text('What, such as step_completed.') },
        optional: {
          run_id: runId,
          workflow_id: workflowId,
          step_id: stepId,
          job_id: jobId,
          status: text('Status it led to.'),
          result_ptr: text('Where a result is kept.'),
          message: text('In words.'),
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
  summary: 'Delete a run with its timeline and timers; one under way is cancelled first',
  access: write,
  params: { id: runId },
  answer: { status: 204 },
  errors: ['run_not_found', 'run_busy', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

/** Core contract 5.3; engine contract B8. */
export const rerunRun = endpoint({
  id: 'runs.rerun',
  method: 'post',
  path: '/api/v1/workflow-runs/:id/rerun',
  summary: 'Run again, from the start or from one step on',
  description: 'From a step: everything it depends on must have succeeded, and is taken over as it was.',
  access: write,
  params: { id: runId },
  body: shape<{ from_step: string; dry_run: boolean }>({
    required: { from_step: text('Step to begin with; all when empty.').max(64).default(''), dry_run: Joi.boolean().default(false) }, // prettier-ignore
  }),
  bodyOptional: true,
  answer: { status: 200, body: runRef, headers: { 'X-Trace-Id': 'The new run id.' } },
  errors: [
    'run_not_found',
    'workflow_not_found',
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
  summary: 'Cancel a run; again on a cancelled one changes nothing',
  access: write,
  params: { id: workflowId, run_id: runId },
  query: shape<{ compensate: boolean }>({
    required: { compensate: flag(false).description('Undo what its finished steps did, newest first.') },
  }),
  answer: { status: 204 },
  errors: ['run_not_found', 'run_not_cancellable', 'run_busy', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const chatRoles = ['user', 'agent', 'system'] as const;

/** Spec: "Workflow, run, chat"; core contract 5.6. */
export interface ChatMessage {
  id: string;
  run_id: string;
  role: (typeof chatRoles)[number];
  content: string;
  created_at: string;
  step_id?: string;
  job_id?: string;
  agent_id?: string;
  agent_name?: string;
  metadata?: Record<string, unknown>;
}
const chatOptional = {
  step_id: text('Step it is about.').max(limits.idChars),
  job_id: text('Job it is about.').max(limits.idChars),
  agent_id: text('Agent that wrote it.').max(limits.idChars),
  agent_name: text('Its name.').max(limits.idChars),
  metadata: anyObject('Anything else.'),
};
const chatMessage = shape<ChatMessage>({
  required: {
    id: text('Message id.'),
    run_id: runId,
    role: Joi.string<(typeof chatRoles)[number]>().valid(...chatRoles),
    content: text('What was said.'),
    created_at: time('When.'),
  },
  optional: chatOptional,
});

export interface ChatView {
  items: ChatMessage[];
  next_cursor?: number;
}
const chatPosition: Joi.Schema<number | undefined> = Joi.any()
  .custom((value: unknown) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : undefined))
  .description('Where the last page ended: its next_cursor, unchanged. A bad cursor is ignored.');

export const readChat = endpoint({
  id: 'runs.chat',
  method: 'get',
  path: '/api/v1/workflow-runs/:id/chat',
  summary: 'Chat of a run, newest first',
  access: read,
  params: { id: runId },
  query: shape<{ limit: number; cursor?: number }>({
    required: { limit: pageLimit(100) },
    optional: { cursor: chatPosition },
  }),
  answer: {
    status: 200,
    body: shape<ChatView>({
      required: { items: Joi.array().items(chatMessage) },
      optional: { next_cursor: count('Position of the next older message; absent at the end.') },
    }),
  },
  errors: ['run_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export interface ChatBody {
  content: string;
  role: 'user' | 'agent' | 'assistant' | 'system';
  step_id?: string;
  job_id?: string;
  agent_id?: string;
  agent_name?: string;
  metadata?: Record<string, unknown>;
}

export const sayInChat = endpoint({
  id: 'runs.say',
  method: 'post',
  path: '/api/v1/workflow-runs/:id/chat',
  summary: 'Say something in the chat of a run',
  access: { permission: 'workflows.write', roles: ['admin', 'operator'] },
  params: { id: runId },
  body: shape<ChatBody>({
    required: {
      content: Joi.string()
        .allow('')
        .trim()
        .max(65_536)
        .default('')
        .description('Needed; spaces around it are dropped.'),
      role: Joi.string<ChatBody['role']>()
        .valid('user', 'agent', 'assistant', 'system')
        .empty('')
        .default('user')
        .description('Only admins speak as agent (or assistant, which means the same) or system; all others as user.'),
    },
    optional: chatOptional,
  }),
  answer: { status: 200, body: chatMessage },
  errors: ['content_required', 'run_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export interface SignalView {
  run_id: string;
  signal: string;
  delivered: boolean;
}

/** A step of type signal waits for it; one that comes before the step does is kept for it. */
export const sendSignal = endpoint({
  id: 'runs.signal',
  method: 'post',
  path: '/api/v1/workflow-runs/:id/signals/:name',
  summary: 'Tell a run that something happened',
  access: write,
  params: { id: runId, name: Joi.string().min(1).max(256).description('Name that a signal step waits for.') },
  body: shape<{ payload?: unknown; signal_id: string }>({
    required: {
      signal_id: text('A repeat with the same id changes nothing; generated when empty.')
        .max(limits.idChars)
        .default(''),
    },
    optional: { payload: Joi.any().description('Becomes the output of the step.') },
  }),
  bodyOptional: true,
  answer: {
    status: 200,
    body: shape<SignalView>({
      required: {
        run_id: runId,
        signal: text('Name.'),
        delivered: Joi.boolean().description('A step took it; false = kept until one waits for it.'),
      },
    }),
  },
  errors: ['run_not_found', 'run_already_ended', 'run_busy', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const waitKinds = ['job', 'approval', 'signal', 'timer', 'retry', 'slot', 'child_run', 'dependency', 'input'] as const; // prettier-ignore

/** One thing a run waits for. */
export interface RunWait {
  kind: (typeof waitKinds)[number];
  step_id: string;
  what: string;
  since?: string;
  until?: string;
  job_id?: string;
  job_state?: string;
  child_run_id?: string;
  steps?: string[];
}
/** How one step came to be where it is. */
export interface StepExplanation {
  step_id: string;
  step_type: string;
  status: StepStatusName;
  why: string;
  depends_on: { step_id: string; status: StepStatusName; satisfied: boolean }[];
  rule_id?: string;
  decision?: string;
}
export interface ExplainView {
  run_id: string;
  workflow_id: string;
  status: RunStatusName;
  summary: string;
  waits: RunWait[];
  steps: StepExplanation[];
  failed_step?: string;
  error?: RunErrorView;
}

/** Why a run is where it is: what it waits for, and what decided for each step. */
export const explainRun = endpoint({
  id: 'runs.explain',
  method: 'get',
  path: '/api/v1/workflow-runs/:id/explain',
  summary: 'Why a run is where it is',
  access: read,
  params: { id: runId },
  answer: {
    status: 200,
    body: shape<ExplainView>({
      required: {
        run_id: runId,
        workflow_id: workflowId,
        status: Joi.string<RunStatusName>().valid(...runStatuses),
        summary: text('In one sentence.'),
        waits: Joi.array().items(
          shape<RunWait>({
            required: {
              kind: Joi.string<RunWait['kind']>().valid(...waitKinds),
              step_id: stepId,
              what: text('What must happen, in words.'),
            },
            optional: {
              since: time('Since when it waits.'),
              until: time('When it goes on by itself, or gives up.'),
              job_id: jobId,
              job_state: text('State of that job.'),
              child_run_id: runId,
              steps: strings('Steps it waits for.'),
            },
          }),
        ),
        steps: Joi.array().items(
          shape<StepExplanation>({
            required: {
              step_id: stepId,
              step_type: text('Kind of step.'),
              status: Joi.string<StepStatusName>().valid(...stepStatuses),
              why: text('Why it is in this status.'),
              depends_on: Joi.array().items(
                shape<StepExplanation['depends_on'][number]>({
                  required: {
                    step_id: stepId,
                    status: Joi.string<StepStatusName>().valid(...stepStatuses),
                    satisfied: Joi.boolean().description('The step may go on as far as this one is concerned.'),
                  },
                }),
              ),
            },
            optional: { rule_id: text('Policy rule that decided.'), decision: text('What it decided.') },
          }),
        ),
      },
      optional: { failed_step: stepId, error: runError },
    }),
  },
  errors: ['run_not_found', 'tenant_access_denied'],
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
  sayInChat,
  sendSignal,
  explainRun,
] as const;
