import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, stringMap, strings, text } from '../fields';
import { limits } from '../limits';
import { parsePriority } from '../proto/names';
import { shape } from '../shape';
import { actionDescriptor, type ActionBody } from './action';
import { bundleParams, bundleQuery } from './fields';

/** Who asks for what, as `meta` of a question. See docs/reference/policy.md#evaluation. */
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

/** The two fields of content are those of the kernel's own request. */
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

/** Words in any case, the enum's own names, or its numbers 0 to 3. See docs/reference/messages.md. */
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
    actor_id: name('Who acts.'),
    actor_type: Joi.string().valid('human', 'service').empty(''),
    idempotency_key: name('Idempotency key.'),
    capability: name('Capability.'),
    pack_id: name('Pack.'),
  },
});

/** A question to policy, as these routes and the simulation of a bundle take it. */
export const policyRequestBody = shape<PolicyRequestBody>({
  required: {
    topic: text('Topic of the job; one that is empty or does not begin with job. is denied.').max(limits.topicChars),
    labels: labels('Labels; names reserved for the service are dropped, as at submission.'),
  },
  optional: {
    job_id: name('Job it is about; a job asked about twice counts once in velocity windows.'),
    tenant: name('The caller’s tenant, or any for a caller who may act for all.'),
    org_id: name('The tenant once more.'),
    team_id: name('Team.'),
    workflow_id: name('Workflow.'),
    step_id: name('Step of the workflow.'),
    principal_id: name('For whom.'),
    memory_id: name('Memory the job would use.'),
    priority,
    estimated_cost: Joi.number().min(0).description('What it is thought to cost.'),
    budget: shape<PolicyBudgetBody>({
      required: {},
      optional: {
        max_input_tokens: tokens('Tokens in.'),
        max_output_tokens: tokens('Tokens out.'),
        max_total_tokens: tokens('Both.'),
        deadline_ms: tokens('Time.'),
      },
    }).allow(null),
    effective_config: Joi.any().description('Used as it is; absent: the config of tenant, team, workflow and step.'),
    meta: meta.allow(null),
    action: actionDescriptor.allow(null),
    input_content: text('What content rules look into, as text; JSON is also read by `metadata` conditions.'),
    input_content_type: name('Its media type.'),
  },
});

/** A decision as the kernel tells it, every field always there. */
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

/** What became of one rule that was looked at. */
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
  reason: text('Why.'),
  ruleId: text('Rule that decided; empty when none did.'),
  policySnapshot: text('The policy it was decided on.'),
  approvalRef: text('The job id when a person must decide, else empty.'),
  approvalRequired: Joi.boolean(),
  constraints: anyObject('Limits, 64-bit integers as strings; null when there are none.').allow(null),
  remediations: Joi.array().items(anyObject('A way to do it differently.')),
};
export const policyDecisionView = shape<PolicyDecisionView>({ required: decisionFields });

const gateFields = {
  rule_id: text('The gate, when a gate asks for a person.'),
  gate: text('The same.'),
  sub_reason: text('What the gate objects to.'),
};

const route = {
  method: 'post',
  access: { permission: 'policy.write', roles: ['admin'] },
  params: {},
  body: policyRequestBody,
} as const;
/** What a kernel that does not decide, and a gate that objects, are told as. */
const outcomes = ['safety_unavailable', 'upstream_service_error', 'conflict'] as const;

/** Counts velocity windows. */
export const evaluatePolicy = endpoint({
  ...route,
  id: 'policy.evaluate',
  path: '/api/v1/policy/evaluate',
  summary: 'What policy decides about a request, counted as if it were made',
  answer: { status: 200, body: policyDecisionView },
  errors: outcomes,
});

export interface PolicySimulationView extends PolicyDecisionView {
  rule_id?: string;
  gate?: string;
  sub_reason?: string;
}

/** Counts nothing. */
export const simulatePolicy = endpoint({
  ...route,
  id: 'policy.simulate',
  path: '/api/v1/policy/simulate',
  summary: 'What policy would decide about a request; nothing is counted',
  answer: { status: 200, body: shape<PolicySimulationView>({ required: decisionFields, optional: gateFields }) },
  errors: outcomes,
});

export interface PolicyExplanationView extends PolicyDecisionView {
  /** In the order they were looked at; at most 100, those that mattered before others. */
  trace: PolicyTraceView[];
  /** How many rules were looked at. */
  traceTotal: number;
}

/** Counts nothing. */
export const explainPolicy = endpoint({
  ...route,
  id: 'policy.explain',
  path: '/api/v1/policy/explain',
  summary: 'What policy would decide about a request, and which rules it looked at for that',
  answer: {
    status: 200,
    body: shape<PolicyExplanationView>({
      required: {
        ...decisionFields,
        trace: Joi.array().items(
          shape<PolicyTraceView>({
            required: {
              ruleId: text('Rule.'),
              source: text('Bundle or file it stands in.'),
              set: text('Which of the sets that are searched one after the other it belongs to.'),
              decision: decisionType.description('What it says when it matches.'),
              outcome: Joi.string().valid('matched', 'not_matched', 'other_section', 'unavailable'),
            },
            optional: { failed: text('The part of the rule that did not hold.') },
          }),
        ),
        traceTotal: Joi.number().integer().min(0).description('How many rules were looked at; the trace holds 100.'),
      },
    }),
  },
  errors: outcomes,
});

export const policySnapshots = endpoint({
  id: 'policy.snapshots',
  method: 'get',
  path: '/api/v1/policy/snapshots',
  summary: 'Names of the policy in force and of those before it, newest first',
  access: { permission: 'policy.read', roles: ['admin', 'operator'] },
  params: {},
  answer: { status: 200, body: shape<{ snapshots: string[] }>({ required: { snapshots: strings('Names.') } }) },
  errors: ['safety_unavailable', 'upstream_service_error'],
});

export interface SimulateBundleBody {
  request: PolicyRequestBody;
  content?: string;
}

/** Counts nothing. See docs/reference/policy.md#bundles. */
export const simulateBundle = endpoint({
  id: 'policy.simulateBundle',
  method: 'post',
  path: '/api/v1/policy/bundles/:bundle_id/simulate',
  summary: 'What policy would decide if a bundle held another text, or were enabled',
  description:
    'The whole policy decides, with the text in the place of the bundle, or as a new one; without a text the stored one counts, also while it is not enabled. Action gates are not asked.',
  otherTenant: 'absent',
  access: { permission: 'policy.write', roles: ['admin'] },
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
