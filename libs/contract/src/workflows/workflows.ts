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
  .description('Incremented by each change; a run keeps the revision with which it started.');
const stepMap = Joi.object()
  .pattern(/.*/, Joi.object().unknown())
  .description('Steps by step id: letters, digits, ., _ and -, at most 64 characters.');
const parameters = Joi.array().items(Joi.object().unknown()).description('Form hints for the input.');

export const workflowView = shape<WorkflowView>({
  required: {
    id: workflowId,
    org_id: text('Tenant.'),
    team_id: text('Team.'),
    name: text('Name.'),
    description: text('Description.'),
    version: text('Free text.'),
    timeout_sec: seconds('Timeout after which a run ends in timed_out; 0 = default of the timeouts file.'),
    steps: stepMap,
    created_by: text('Identity that created it.'),
    created_at: time('Creation time.'),
    updated_at: time('Time of the last change.'),
    revision,
  },
  optional: {
    config: anyObject('Overlay of the effective config of its runs.'),
    input_schema: anyObject('JSON Schema that validates inputs of runs.'),
    parameters,
    policy_override: text('Policy rules for its jobs, in YAML; they only tighten the policy of the installation.'),
    output: Joi.any().description('Templates of the run output; absent = outputs of its last steps.'),
    on_failure: Joi.string().valid('cancel_siblings', 'finish_siblings'),
  },
});

/** Create or update. The definition check validates the fields and reports all violations at once. */
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

const kept = 'When omitted or empty, an update keeps the stored value.';

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
  summary: 'Read a workflow',
  access: read,
  params: { id: workflowId },
  answer: { status: 200, body: workflowView },
  errors: ['workflow_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

/** All violations are returned in `violations`: `{path, message, line?, column?}`. */
export const putWorkflow = endpoint({
  id: 'workflows.put',
  method: 'post',
  path: '/api/v1/workflows',
  summary: 'Create a workflow, or update the one with this id',
  description:
    'If given, steps replaces all stored steps. An invalid definition returns 400 invalid_workflow with all violations, each with its path. Active runs continue with the revision with which they started.',
  access: write,
  audit: { type: 'governance.workflow_change', action: 'workflow.put', resource: ['workflow', 'id'] },
  params: {},
  body: shape<WorkflowBody>({
    required: {},
    optional: {
      id: text('Generated when empty.'),
      org_id: text('Must be the caller’s tenant.'),
      team_id: text(`Team. ${kept}`),
      name: text(`Required; at most 256 characters. ${kept}`),
      description: text(`Description. ${kept}`),
      version: text(`Free text. ${kept}`),
      timeout_sec: Joi.any().description(`Timeout of a run, 0 to 604800 seconds. ${kept}`),
      created_by: text(
        'Author name, for callers with access to all tenants; otherwise ignored, and the caller is the author.',
      ),
      created_at: Joi.any().description('Set by the server; ignored.'),
      updated_at: Joi.any().description('Set by the server; ignored.'),
      revision: Joi.any().description('Set by the server; ignored.'),
      input_schema: Joi.any().description(`JSON Schema of the input. ${kept}`),
      parameters: Joi.any().description(`List of {name, type, default, required, description}. ${kept}`),
      config: Joi.any().description(`Overlay of the effective config. ${kept}`),
      policy_override: text(
        'Policy rules in YAML, tier workflow. They can only tighten the policy of the installation, unless the setting policy.overrides is extend. Empty text clears them.',
      ),
      output: Joi.any().description(`Templates of the run output. ${kept}`),
      on_failure: Joi.any().description(`cancel_siblings or finish_siblings. ${kept}`),
      steps: Joi.any().description('Steps by step id. When omitted, an update keeps the stored steps.'),
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
  summary: 'Delete a workflow; its runs are kept, active runs fail',
  access: write,
  audit: { type: 'governance.workflow_change', action: 'workflow.remove', resource: ['workflow', 'id'] },
  params: { id: workflowId },
  answer: { status: 204 },
  errors: ['workflow_not_found', 'tenant_access_denied', 'workflow_version_conflict'],
  otherTenant: 'tenant_access_denied',
});

/** Earlier revisions of definitions are kept unchanged. See docs/reference/workflows.md#definitions. */
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
          name: text('Name of the workflow in this revision.'),
          version: text('Free text.'),
          steps: count('Number of steps.'),
          created_by: text('Identity that created this revision.'),
          created_at: time('Creation time.'),
          current: Joi.boolean().description('Whether new runs use this revision.'),
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
  summary: 'Read one revision of a workflow',
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
  summary: 'Simulate a run: the policy decision of each step, and which steps would run',
  description:
    'Evaluates conditions and inputs with the sample input as far as possible. Step outputs are unknown, except for steps with mock_output and steps whose output the engine computes. Nothing is stored.',
  access: write,
  audit: 'none',
  params: { id: workflowId },
  body: shape<{ input: Record<string, unknown>; environment: string }>({
    required: {
      input: anyObject('Sample input.').default({}),
      environment: text('Value of the label environment; selects the effective config.')
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
              step_id: text('Step id; dependencies come first.'),
              step_name: text('Name of the step.'),
              step_type: text('Kind of step.'),
              decision: text('Policy decision; N/A for a step without a job, ERROR if policy is unavailable.'),
              reason: text('Reason of the decision.'),
              rule_id: text('Rule of the decision.'),
              would_run: Joi.string<DryRunStep['would_run']>()
                .valid('yes', 'no', 'unknown')
                .description('Whether the step would run; unknown if that depends on outputs of other steps.'),
            },
            optional: {
              topic: text('Topic of its job.'),
              why: text('Why it would not run, or why that is unknown.'),
              condition: Joi.any().description('Value of its condition, or of the subject of a switch.'),
              target_step: text('Step that a switch would select.'),
              items: count('Items of a fan-out.'),
              unresolved: Joi.array().items(Joi.string()).description('References that are missing in the input.'),
              error: text('Why a condition or an input cannot be evaluated.'),
            },
          }),
        ),
      },
    }),
  },
  errors: ['workflow_not_found', 'tenant_access_denied'],
  otherTenant: 'tenant_access_denied',
});

/** Endpoints of workflow definitions. */
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
