import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, stringMap, strings, text } from '../fields';
import { limits } from '../limits';
import { parsePriority } from '../proto/names';
import { shape } from '../shape';
import { actionDescriptor, type ActionBody } from './action';
import { bundleParams, bundleQuery } from './fields';

/** Identity and capability of a policy request, sent as `meta`. See docs/reference/policy.md#evaluation. */
export interface PolicyMetaBody {
  tenant_id?: string;
  actor_id?: string;
  actor_type?: string;
  idempotency_key?: string;
  capability?: string;
  risk_tags: string[];
  requires: string[];
  pack_id?: string;
  labels: Record<string, string>;
}

export interface PolicyBudgetBody {
  max_input_tokens?: number;
  max_output_tokens?: number;
  max_total_tokens?: number;
  deadline_ms?: number;
}

/** `input_content` and `input_content_type` have the names of the kernel's request. */
export interface PolicyRequestBody {
  topic: string;
  job_id?: string;
  tenant?: string;
  org_id?: string;
  team_id?: string;
  workflow_id?: string;
  step_id?: string;
  principal_id?: string;
  memory_id?: string;
  priority?: string | number;
  estimated_cost?: number;
  budget?: PolicyBudgetBody | null;
  labels: Record<string, string>;
  effective_config?: unknown;
  meta?: PolicyMetaBody | null;
  action?: ActionBody | null;
  input_content?: string;
  input_content_type?: string;
}

const name = (description: string) => text(description).max(limits.idChars);
const tokens = (description: string) =>
  Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER).description(description);
const labels = (description: string) => stringMap(description).max(limits.labels).default({});

/** A priority name in any case, an enum name, or an enum number 0 to 3. See docs/reference/messages.md. */
const priority = Joi.any()
  .custom((value: unknown, helpers) => {
    const word = typeof value === 'string' ? value.toLowerCase().replace(/^job_priority_/, '') : value;
    if (word === '' || word === 'unspecified') return 0;
    if (typeof word === 'string') return parsePriority(word) ?? helpers.error('any.only');
    return typeof word === 'number' && [0, 1, 2, 3].includes(word) ? word : helpers.error('any.only');
  })
  .messages({ 'any.only': '{{#label}} must be interactive, batch, critical, low, normal or high, or 0 to 3' })
  .description('interactive, batch or critical (low, normal, high mean batch, interactive, critical), or 0 to 3.');

const meta = shape<PolicyMetaBody>({
  required: {
    risk_tags: strings('Risk tags.').max(limits.tags).default([]),
    requires: strings('Capabilities a pool must offer.').max(limits.tags).default([]),
    labels: labels('Labels of the metadata.'),
  },
  optional: {
    tenant_id: name('Tenant, when `tenant` is not given.'),
    actor_id: name('Actor.'),
    actor_type: Joi.string().valid('human', 'service').empty(''),
    idempotency_key: name('Idempotency key.'),
    capability: name('Capability.'),
    pack_id: name('Pack.'),
  },
});

/** A policy request, as accepted by these routes and by the simulation of a bundle. */
export const policyRequestBody = shape<PolicyRequestBody>({
  required: {
    topic: text('Topic of the job; policy denies topics that do not begin with job.').max(limits.topicChars),
    labels: labels('Labels; names reserved for the service are dropped, as at submission.'),
  },
  optional: {
    job_id: name('Job of the request; repeated requests for one job count once in velocity windows.'),
    tenant: name('The caller’s tenant; callers with access to all tenants may name any.'),
    org_id: name('Same as tenant.'),
    team_id: name('Team.'),
    workflow_id: name('Workflow.'),
    step_id: name('Step of the workflow.'),
    principal_id: name('Principal of the job.'),
    memory_id: name('Memory that the job would use.'),
    priority,
    estimated_cost: Joi.number().min(0).description('Estimated cost.'),
    budget: shape<PolicyBudgetBody>({
      required: {},
      optional: {
        max_input_tokens: tokens('Maximum input tokens.'),
        max_output_tokens: tokens('Maximum output tokens.'),
        max_total_tokens: tokens('Maximum total tokens.'),
        deadline_ms: tokens('Deadline in ms.'),
      },
    }).allow(null),
    effective_config: Joi.any().description(
      'Effective config to use; absent: the merged config of tenant, team, workflow and step.',
    ),
    meta: meta.allow(null),
    action: actionDescriptor.allow(null),
    input_content: text('Text that content rules scan; `metadata` conditions also read it if it is JSON.'),
    input_content_type: name('Media type of input_content.'),
  },
});

/** A decision of the kernel; every field is always present. */
export interface PolicyDecisionView {
  decision: string;
  reason: string;
  ruleId: string;
  policySnapshot: string;
  approvalRef: string;
  approvalRequired: boolean;
  constraints: Record<string, unknown> | null;
  remediations: Record<string, unknown>[];
}

/** Outcome of one evaluated rule. */
export interface PolicyTraceView {
  ruleId: string;
  source: string;
  set: string;
  decision: string;
  outcome: string;
  failed?: string;
}

const decisionTypes = ['ALLOW', 'DENY', 'REQUIRE_HUMAN', 'THROTTLE', 'ALLOW_WITH_CONSTRAINTS', 'UNSPECIFIED'];
const decisionType = Joi.string().valid(...decisionTypes.map((type) => `DECISION_TYPE_${type}`));

const decisionFields = {
  decision: decisionType,
  reason: text('Reason of the decision.'),
  ruleId: text('Rule of the decision; empty for the default.'),
  policySnapshot: text('Policy snapshot of the decision.'),
  approvalRef: text('The job id if approval is required, else empty.'),
  approvalRequired: Joi.boolean(),
  constraints: anyObject('Constraints set by policy, with 64-bit integers as strings; null = none.').allow(null),
  remediations: Joi.array().items(anyObject('An alternative request.')),
};
export const policyDecisionView = shape<PolicyDecisionView>({ required: decisionFields });

const gateFields = {
  rule_id: text('The action check that requires approval.'),
  gate: text('Same as rule_id.'),
  sub_reason: text('Reason code of the action check.'),
};

const route = {
  method: 'post',
  access: { permission: 'policy.write', roles: ['admin'] },
  params: {},
  body: policyRequestBody,
} as const;
/** Errors for an unavailable kernel and for an action check that rejects. */
const outcomes = ['safety_unavailable', 'upstream_service_error', 'conflict'] as const;

/** Advances velocity windows. */
export const evaluatePolicy = endpoint({
  ...route,
  id: 'policy.evaluate',
  audit: 'none',
  path: '/api/v1/policy/evaluate',
  summary: 'Evaluate policy for a request, and count it in velocity windows',
  answer: { status: 200, body: policyDecisionView },
  errors: outcomes,
});

export interface PolicySimulationView extends PolicyDecisionView {
  rule_id?: string;
  gate?: string;
  sub_reason?: string;
}

/** Has no side effects. */
export const simulatePolicy = endpoint({
  ...route,
  id: 'policy.simulate',
  audit: 'none',
  path: '/api/v1/policy/simulate',
  summary: 'Evaluate policy for a request without side effects',
  answer: { status: 200, body: shape<PolicySimulationView>({ required: decisionFields, optional: gateFields }) },
  errors: outcomes,
});

export interface PolicyExplanationView extends PolicyDecisionView {
  /** In order of evaluation; at most 100, the decisive rules first. */
  trace: PolicyTraceView[];
  /** Number of evaluated rules. */
  traceTotal: number;
}

/** Has no side effects. */
export const explainPolicy = endpoint({
  ...route,
  id: 'policy.explain',
  audit: 'none',
  path: '/api/v1/policy/explain',
  summary: 'Evaluate policy for a request without side effects, with a trace of the evaluated rules',
  answer: {
    status: 200,
    body: shape<PolicyExplanationView>({
      required: {
        ...decisionFields,
        trace: Joi.array().items(
          shape<PolicyTraceView>({
            required: {
              ruleId: text('Rule id.'),
              source: text('Bundle or file that contains it.'),
              set: text('Rule set it belongs to; sets are evaluated in order.'),
              decision: decisionType.description('Decision of the rule when it matches.'),
              outcome: Joi.string().valid('matched', 'not_matched', 'other_section', 'unavailable'),
            },
            optional: { failed: text('The condition that did not hold.') },
          }),
        ),
        traceTotal: Joi.number().integer().min(0).description('Number of evaluated rules; the trace has at most 100.'),
      },
    }),
  },
  errors: outcomes,
});

export const policySnapshots = endpoint({
  id: 'policy.snapshots',
  method: 'get',
  path: '/api/v1/policy/snapshots',
  summary: 'Policy snapshots, newest first',
  access: { permission: 'policy.read', roles: ['admin', 'operator'] },
  params: {},
  answer: {
    status: 200,
    body: shape<{ snapshots: string[] }>({
      required: { snapshots: strings('Snapshot names; the first is in effect.') },
    }),
  },
  errors: ['safety_unavailable', 'upstream_service_error'],
});

export interface SimulateBundleBody {
  request: PolicyRequestBody;
  content?: string;
}

/** Has no side effects. See docs/reference/policy.md#bundles. */
export const simulateBundle = endpoint({
  id: 'policy.simulateBundle',
  method: 'post',
  path: '/api/v1/policy/bundles/:bundle_id/simulate',
  summary: 'Evaluate policy with a candidate text for a bundle, or with the bundle enabled',
  description:
    'Evaluates the whole policy, with the text in place of the bundle or as a new bundle. Without a text, the stored content is used even if the bundle is disabled. Action checks are skipped.',
  otherTenant: 'absent',
  access: { permission: 'policy.write', roles: ['admin'] },
  audit: 'none',
  params: bundleParams,
  query: bundleQuery,
  body: shape<SimulateBundleBody>({
    required: { request: policyRequestBody.required() },
    optional: { content: text('The policy document to try, YAML.') },
  }),
  answer: { status: 200, body: policyDecisionView },
  errors: ['bundle_not_found', 'policy_validation_failed', 'safety_unavailable', 'upstream_service_error'],
});

export const policyEvaluateEndpoints = [
  evaluatePolicy,
  simulatePolicy,
  explainPolicy,
  policySnapshots,
  simulateBundle,
] as const;
