import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, count, pageLimit, text } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';
import { readWorkflows as read, time, workflowId, writeWorkflows as write } from './workflow-fields';
import { scheduleEndpoints } from './schedules';

const seconds = (description: string) => count(`${description} Seconds.`);

/** Fields of steps are described in docs/reference/workflows.md#steps. */
export interface WorkflowView {
  id: string;
  org_id: string;
  team_id: string;
  name: string;
  description: string;
  version: string;
  timeout_sec: number;
  steps: Record<string, Record<string, unknown>>;
  created_by: string;
  created_at: string;
  updated_at: string;
  revision: number;
  config?: Record<string, unknown>;
  input_schema?: Record<string, unknown>;
  parameters?: Record<string, unknown>[];
  policy_override?: string;
  output?: unknown;
  on_failure?: string;
}

const revision = Joi.number()
  .integer()
  .min(1)
  .description('Rises with each change; a run keeps the one it began with.');
const stepMap = Joi.object()
  .pattern(/.*/, Joi.object().unknown())
  .description('Steps by their id: letters, digits, ., _ and -, at most 64.');
const parameters = Joi.array().items(Joi.object().unknown()).description('Hints for a form that asks for the input.');

export const workflowView = shape<WorkflowView>({
  required: {
    id: workflowId,
    org_id: text('Tenant.'),
    team_id: text('Team.'),
    name: text('Name.'),
    description: text('Description.'),
    version: text('Free text.'),
    timeout_sec: seconds('After so long a run ends in timed_out; 0 = as the timeouts file says.'),
    steps: stepMap,
    created_by: text('Who created it.'),
    created_at: time('When.'),
    updated_at: time('Last change.'),
    revision,
  },
  optional: {
    config: anyObject('Overlay of the effective config of its runs.'),
    input_schema: anyObject('JSON Schema that inputs of runs are checked against.'),
    parameters,
    policy_override: text('Policy rules for its jobs, in YAML; they only tighten the policy of the installation.'),
    output: Joi.any().description('Templates of what a run returns; absent = what its last steps returned.'),
    on_failure: Joi.string().valid('cancel_siblings', 'finish_siblings'),
  },
});

/** Create or update. Fields are looked into by the check of definitions, which names all faults at once. */
export interface WorkflowBody {
  id?: string;
  org_id?: string;
  team_id?: string;
  name?: string;
  description?: string;
  version?: string;
  timeout_sec?: unknown;
  created_by?: string;
  created_at?: unknown;
  updated_at?: unknown;
  revision?: unknown;
  input_schema?: unknown;
  parameters?: unknown;
  config?: unknown;
  policy_override?: string;
  output?: unknown;
  on_failure?: unknown;
  steps?: unknown;
}

const kept = 'When it is left out or empty, an update keeps what is stored.';

export const listWorkflows = endpoint({
  id: 'workflows.list',
  method: 'get',
  path: '/api/v1/workflows',
  summary: 'Workflows of the tenant, newest change first, at most 100',
  access: read,
  params: {},
  query: shape<{ org_id?: string }>({ required: {}, optional: { org_id: text('Must be the caller’s tenant.') } }),
  answer: { status: 200, body: Joi.array().items(workflowView) as Joi.ArraySchema<WorkflowView[]> },
  errors: ['tenant_access_denied'],
});

export const getWorkflow = endpoint({
  id: 'workflows.get',
  method: 'get',
  path: '/api/v1/workflows/:id',
  summary: 'One workflow',
  access: read,
  params: { id: workflowId },
  answer: { status: 200, body: workflowView },
  errors: ['workflow_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

/** Everything wrong is told in `violations`: `{path, message, line?, column?}`. */
export const putWorkflow = endpoint({
  id: 'workflows.put',
  method: 'post',
  path: '/api/v1/workflows',
  summary: 'Create a workflow, or update the one with this id',
  description:
    'steps, when given, replace all stored ones. What is wrong is told at once: 400 invalid_workflow with violations, each with its path in the definition. Runs under way go on with the revision they began with.',
  access: write,
  params: {},
  body: shape<WorkflowBody>({
    required: {},
    optional: {
      id: text('Generated when empty.'),
      org_id: text('Must be the caller’s tenant.'),
      team_id: text(`Team. ${kept}`),
      name: text(`At most 256 characters; needed. ${kept}`),
      description: text(`Description. ${kept}`),
      version: text(`Free text. ${kept}`),
      timeout_sec: Joi.any().description(`Of a whole run, 0 to 604800 seconds. ${kept}`),
      created_by: text(
        'Name to sign with, for credentials of all tenants; ignored from other callers, who sign with their own.',
      ),
      created_at: Joi.any().description('Set by the server; ignored.'),
      updated_at: Joi.any().description('Set by the server; ignored.'),
      revision: Joi.any().description('Set by the server; ignored.'),
      input_schema: Joi.any().description(`JSON Schema of the input. ${kept}`),
      parameters: Joi.any().description(`List of {name, type, default, required, description}. ${kept}`),
      config: Joi.any().description(`Overlay of the effective config. ${kept}`),
      policy_override: text(
        'Policy rules in YAML, tier workflow. They only tighten: what the policy of the installation denies, holds or throttles stays so, unless its setting policy.overrides is extend. The empty text clears them.',
      ),
      output: Joi.any().description(`Templates of what a run returns. ${kept}`),
      on_failure: Joi.any().description(`cancel_siblings or finish_siblings. ${kept}`),
      steps: Joi.any().description('Steps by their id. When left out, an update keeps what is stored.'),
    },
  }),
  answer: { status: 201, body: shape<{ id: string }>({ required: { id: workflowId } }) },
  errors: [
    'invalid_workflow',
    'tenant_access_denied',
    'tier_limit_exceeded',
    'workflow_version_conflict',
    'policy_signing_required',
  ],
});

export const removeWorkflow = endpoint({
  id: 'workflows.remove',
  method: 'delete',
  path: '/api/v1/workflows/:id',
  summary: 'Delete a workflow; its runs are kept, those under way fail',
  access: write,
  params: { id: workflowId },
  answer: { status: 204 },
  errors: ['workflow_not_found', 'tenant_access_denied', 'workflow_version_conflict'],
  otherTenant: 'tenant_access_denied',
});

/** Definitions are kept as they were. See docs/reference/workflows.md#definitions. */
export interface RevisionItem {
  revision: number;
  name: string;
  version: string;
  steps: number;
  created_by: string;
  created_at: string;
  current: boolean;
}

export const workflowVersions = endpoint({
  id: 'workflows.versions',
  method: 'get',
  path: '/api/v1/workflows/:id/versions',
  summary: 'Revisions of a workflow, newest first',
  access: read,
  params: { id: workflowId },
  query: shape<{ limit: number }>({ required: { limit: pageLimit(100) } }),
  answer: {
    status: 200,
    body: Joi.array().items(
      shape<RevisionItem>({
        required: {
          revision,
          name: text('Name it had.'),
          version: text('Free text.'),
          steps: count('Number of steps.'),
          created_by: text('Who made this revision.'),
          created_at: time('When.'),
          current: Joi.boolean().description('New runs begin with it.'),
        },
      }),
    ) as Joi.ArraySchema<RevisionItem[]>,
  },
  errors: ['workflow_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

export const workflowVersion = endpoint({
  id: 'workflows.version',
  method: 'get',
  path: '/api/v1/workflows/:id/versions/:revision',
  summary: 'A workflow as it was in one revision',
  access: read,
  params: {
    id: workflowId,
    revision: Joi.string()
      .pattern(/^[1-9]\d{0,8}$/)
      .messages({ 'string.pattern.base': '{{#label}} must be a whole number from 1' })
      .description('Revision.'),
  },
  answer: { status: 200, body: workflowView },
  errors: ['workflow_not_found', 'workflow_version_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

/** See docs/reference/workflows.md#dry-run. */
export interface DryRunStep {
  step_id: string;
  step_name: string;
  step_type: string;
  decision: string;
  reason: string;
  rule_id: string;
  would_run: 'yes' | 'no' | 'unknown';
  topic?: string;
  why?: string;
  condition?: unknown;
  target_step?: string;
  items?: number;
  unresolved?: string[];
  error?: string;
}
export interface DryRunView {
  workflow_id: string;
  steps: DryRunStep[];
}

export const dryRunWorkflow = endpoint({
  id: 'workflows.dryRun',
  method: 'post',
  path: '/api/v1/workflows/:id/dry-run',
  summary: 'What policy would say to each step, and which would run; nothing is stored',
  description:
    'Conditions and inputs are worked out of the sample input as far as it tells: what steps will return is not known, but for those with mock_output and those that make their output themselves.',
  access: write,
  params: { id: workflowId },
  body: shape<{ input: Record<string, unknown>; environment: string }>({
    required: {
      input: anyObject('Sample input.').default({}),
      environment: text('Becomes the label environment, and selects the effective config.')
        .max(limits.labelKeyBytes)
        .default(''),
    },
  }),
  bodyOptional: true,
  bodyIgnoresUnknown: true,
  answer: {
    status: 200,
    body: shape<DryRunView>({
      required: {
        workflow_id: workflowId,
        steps: Joi.array().items(
          shape<DryRunStep>({
            required: {
              step_id: text('Step; dependencies come first.'),
              step_name: text('Its name.'),
              step_type: text('Its kind.'),
              decision: text('Of policy; N/A for a step that is no job, ERROR when policy could not be asked.'),
              reason: text('Why.'),
              rule_id: text('The rule that decided.'),
              would_run: Joi.string<DryRunStep['would_run']>()
                .valid('yes', 'no', 'unknown')
                .description('With this input; unknown when it depends on what other steps return.'),
            },
            optional: {
              topic: text('Topic of its job.'),
              why: text('Why it would not run, or why that is not known.'),
              condition: Joi.any().description('What its condition, or the subject of a switch, comes to.'),
              target_step: text('Step that a switch would choose.'),
              items: count('Items of a fan-out.'),
              unresolved: Joi.array().items(Joi.string()).description('What it reads and does not find in the input.'),
              error: text('Why a condition or an input cannot be worked out.'),
            },
          }),
        ),
      },
    }),
  },
  errors: ['workflow_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

/** Those of definitions alone. */
export const definitionEndpoints = [
  listWorkflows,
  getWorkflow,
  putWorkflow,
  removeWorkflow,
  workflowVersions,
  workflowVersion,
  dryRunWorkflow,
] as const;

export const workflowEndpoints = [...definitionEndpoints, ...scheduleEndpoints] as const;
